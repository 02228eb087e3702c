import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { root } from './bundle-options.ts';
import { bundled } from './bundled.ts';

/*
 * Bundles the handler with the given path, and writes the bundle and source maps into the given folder. It is
 * a separate process, since esbuild uses plugins only asynchronously, and CDK bundles synchronously.
 */

const [file = '', folder = ''] = process.argv.slice(2);
const { outputFiles } = await bundled(file);
for (const { path, contents } of outputFiles) await writeFile(join(folder, basename(path)), contents);

/** The function that prints the report reads the page's script and style from a file beside it. */
if (basename(dirname(file)) === 'write-report')
  execFileSync(process.execPath, [join(root, 'build', 'write-page.ts'), folder]);
