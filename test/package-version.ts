import { readFileSync } from 'node:fs';

/** The version in `package.json`. */
export const { version }: { readonly version: string } = JSON.parse(readFileSync('package.json', 'utf8'));
