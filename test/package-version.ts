import { readFileSync } from 'node:fs';

/** The version of the package, as its `package.json` says. */
export const { version }: { readonly version: string } = JSON.parse(readFileSync('package.json', 'utf8'));
