import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Matches each relative path that a built file names: of a module that it imports, or of types. */
const NAMED = /(?:\bfrom|\bimport)\s*\(?\s*['"](\.[^'"]+\.js)['"]/g;

/**
 * The built files that the entries need: for a program the modules that it imports, also later at run time,
 * and for declarations the declarations that they name. Throws if one does not exist.
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
      // Types that are written by hand have no program: they declare a package that has no types.
      open.push(isTypes ? file.replace(/\.js$/, '.d.ts') : file);
    }
  }
  return found;
}
