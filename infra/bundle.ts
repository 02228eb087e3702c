import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { bundleHandler } from './bundle-handler.ts';
import { root } from './bundle-options.ts';

/*
 * Bundles the handler with the given path, and writes the bundle and its source maps into the given folder. It runs
 * in a separate process, since esbuild runs plugins only asynchronously, but CDK bundles synchronously.
 */

const [file = '', folder = ''] = process.argv.slice(2);
const { outputFiles } = await bundleHandler(file);
for (const { path, contents } of outputFiles) await writeFile(join(folder, basename(path)), contents);

/** write-report reads the script and the style of the page from a file next to its code. */
if (basename(dirname(file)) === 'write-report')
  execFileSync(process.execPath, [join(root, 'build', 'write-page.ts'), folder]);
