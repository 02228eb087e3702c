import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../../infra/bundle-options.ts';
import type { Bench, Row } from './bench.ts';

/**
 * The monthly cost of an instance, in three sizes. Also writes docs/cost.md. Runs in a separate process, since code
 * that imports the constructs is compiled with infra's options.
 */
export const cost: Bench = {
  name: 'cost',
  about:
    'What an instance costs a month in three sizes, by list prices: [cost](cost.md) says what each dollar is.',
  async run() {
    const file = join('test', 'infra', 'cost', 'write-page-process.ts');
    const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd: root });
    return JSON.parse(stdout) as Row[];
  },
};
