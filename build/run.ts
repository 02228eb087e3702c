import { dirname, join } from 'node:path';
import { build } from './build.ts';

/* This is `npm run build`, which `npm pack` runs first. It writes `dist/`. */

try {
  build(join(dirname(import.meta.dirname), 'dist'));
} catch (error) {
  console.error(String(error));
  process.exitCode = 1;
}
