import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from './bundle-options.ts';
import { functionNames, writeBundle, writeMaps } from './bundles.ts';

/*
 * Writes the bundle of each function to `dist/functions/NAME`, or to NAME in the given folder. The installed package
 * has the construct in `dist` too; there, `lambdaCodeOf` in bundles.ts uses these bundles instead of building them. The
 * source maps go to `maps` next to that folder; they are not deployed.
 */

const [to = join(root, 'dist', 'functions')] = process.argv.slice(2);

const maps = join(dirname(to), 'maps');

for (const name of functionNames()) {
  // Chunks of an earlier build have other names, so they would not be overwritten.
  rmSync(join(to, name), { recursive: true, force: true });
  writeBundle(name, join(to, name));
  rmSync(join(maps, name), { recursive: true, force: true });
  writeMaps(name, join(maps, name));
  console.log(join(to, name));
}
