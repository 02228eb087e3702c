import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './bundle-options.ts';
import { functionNames, writeBundle } from './bundles.ts';

/*
 * Writes the bundle of each function to `dist/functions/NAME`, or below the folder that is given: beside the built
 * construct, where `bundled` finds them.
 */

const [to = join(root, 'dist', 'functions')] = process.argv.slice(2);

for (const name of functionNames()) {
  // A chunk of an earlier build has another name: it would stay.
  rmSync(join(to, name), { recursive: true, force: true });
  writeBundle(name, join(to, name));
  console.log(join(to, name));
}
