import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PAGE_FILE } from '../lib/report/html.ts';
import { bundlePage } from './bundle-page.ts';

/* Writes the report's script and style into the folder whose path it is given. A process of its own, since esbuild uses
 * plugins only asynchronously. */

const [folder = '.'] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, PAGE_FILE), JSON.stringify(await bundlePage()));
