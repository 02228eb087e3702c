import { mkdirSync } from 'node:fs';
import { savePageCode } from '../lib/report/index.ts';
import { bundlePage } from './bundle-page.ts';

/*
 * Writes the report's script and style into the folder with the given path. It is a separate process, since
 * esbuild uses plugins only asynchronously.
 */

const [folder = '.'] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
await savePageCode(folder, await bundlePage());
