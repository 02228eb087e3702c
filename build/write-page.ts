import { mkdirSync } from 'node:fs';
import { savePageCode } from '../lib/report/index.ts';
import { bundlePage } from './bundle-page.ts';

/*
 * Writes the script and the style of the report page into the given folder. It runs in a separate process, since its
 * caller is synchronous, while esbuild runs plugins only asynchronously.
 */

const [folder = '.'] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
await savePageCode(folder, await bundlePage());
