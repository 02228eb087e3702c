import { createRequire } from 'node:module';

/** The version of the package that this file is in. */
export function packageVersion(): string {
  // By its own name, since sources and what is built of them lie in different folders.
  const { version }: { readonly version: string } = createRequire(import.meta.url)(
    'platform-sync/package.json',
  );
  return version;
}
