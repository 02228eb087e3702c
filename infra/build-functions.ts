import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from './bundle-options.ts';
import { functionNames, writeBundle, writeMaps } from './bundles.ts';

/*
 * Writes the bundle of each function to `dist/functions/NAME`, or below the given folder: beside the built
 * construct, where `bundled` finds them. The source maps, which are not deployed, go to `maps` beside that
 * folder.
 */

const [to = join(root, 'dist', 'functions')] = process.argv.slice(2);

const maps = join(dirname(to), 'maps');

for (const name of functionNames()) {
  // A chunk of an earlier build has another name, and would remain.
  rmSync(join(to, name), { recursive: true, force: true });
  writeBundle(name, join(to, name));
  rmSync(join(maps, name), { recursive: true, force: true });
  writeMaps(name, join(maps, name));
  console.log(join(to, name));
}
