import { createRequire } from 'node:module';
import { UsageError } from './usage-error.ts';

/** What only the sandbox needs, in the versions that are tested: optional peers of the package. */
export const sandboxPackages = {
  '@hono/node-server': '2.1.8',
  '@jitl/quickjs-wasmfile-release-sync': '0.32.0',
  hono: '4.13.19',
  'quickjs-emscripten-core': '0.32.0',
  'vader-sentiment': '1.1.3',
} as const satisfies Readonly<Record<string, string>>;

/** Throws `UsageError`, which says how to get them, if any of them is not installed. */
export function requireSandboxPackages(isInstalled: (name: string) => boolean = isThere): void {
  const missing = Object.entries(sandboxPackages)
    .filter(([name]) => !isInstalled(name))
    .map(([name, version]) => `${name}@${version}`);
  if (missing.length > 0)
    throw new UsageError(`the sandbox needs packages of its own: npm install ${missing.join(' ')}`);
}

const { resolve } = createRequire(import.meta.url);

function isThere(name: string): boolean {
  try {
    resolve(name);
    return true;
  } catch (error) {
    // It may be there for `import` alone.
    return !(error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND');
  }
}
