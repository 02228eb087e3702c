import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Each relative path that a built file names: of a module that it imports, or of types. */
const NAMED = /(?:\bfrom|\bimport)\s*\(?\s*['"](\.[^'"]+\.js)['"]/g;

/**
 * The built files that are needed for the entries: of a program what it imports as it runs, also later, and of
 * declarations the declarations that they name. Throws if one does not exist.
 */
export function reachable(entries: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  const open = [...entries];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (found.has(path)) continue;
    found.add(path);
    if (!existsSync(path)) throw new Error(`expected ${path} to be built`);
    const isTypes = path.endsWith('.d.ts');
    for (const [, named = ''] of readFileSync(path, 'utf8').matchAll(NAMED)) {
      const file = join(dirname(path), named);
      // Types that are written by hand have no program, and are of what is missing types.
      open.push(isTypes ? file.replace(/\.js$/, '.d.ts') : file);
    }
  }
  return found;
}
