import { dirname, join } from 'node:path';
import { build } from './build.ts';

/* `npm run build`: writes `dist/`. `npm pack` runs it first. */

try {
  build(join(dirname(import.meta.dirname), 'dist'));
} catch (error) {
  console.error(String(error));
  process.exitCode = 1;
}
