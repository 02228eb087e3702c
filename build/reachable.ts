import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Matches each relative path that a built file imports. */
const IMPORT_PATH = /(?:\bfrom|\bimport)\s*\(?\s*['"](\.[^'"]+\.js)['"]/g;

/**
 * The built files that the entries need: all modules that a program imports, dynamic imports included, and all
 * declarations that declarations import. Throws if a file does not exist.
 */
export function reachable(entries: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  const open = [...entries];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (found.has(path)) continue;
    found.add(path);
    if (!existsSync(path)) throw new Error(`expected ${path} to be built`);
    const isTypes = path.endsWith('.d.ts');
    for (const [, named = ''] of readFileSync(path, 'utf8').matchAll(IMPORT_PATH)) {
      const file = join(dirname(path), named);
      // Declarations that are written by hand have no `.js` file: they are for packages without types.
      open.push(isTypes ? file.replace(/\.js$/, '.d.ts') : file);
    }
  }
  return found;
}
