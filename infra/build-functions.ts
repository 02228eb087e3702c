import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './bundle-options.ts';
import { writeBundle } from './bundles.ts';

/*
 * Writes the bundle of each function to `dist/functions/NAME`, or below the folder that is given: beside the built
 * construct, where `bundled` finds them.
 */

const [to = join(root, 'dist', 'functions')] = process.argv.slice(2);

const names = readdirSync(join(root, 'functions'), { withFileTypes: true })
  .filter((each) => each.isDirectory())
  .map(({ name }) => name);

for (const name of names) {
  // A chunk of an earlier build has another name: it would stay.
  rmSync(join(to, name), { recursive: true, force: true });
  writeBundle(name, join(to, name));
  console.log(join(to, name));
}
