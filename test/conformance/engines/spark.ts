import { join } from 'node:path';
import { byPip } from '../fetch/pip.ts';
import type { Engine } from './engine.ts';

const VERSION = '4.0.1';

/** Spark in one process, by its package for Python: 430 MB to download. */
export const spark: Engine = {
  name: 'Spark',
  version: VERSION,
  java: 17,
  fetch: byPip(`pyspark==${VERSION}`),
  start: ({ fetched }) => ({
    engines: { spark: { command: [join(fetched, 'venv', 'bin', 'python')] } },
  }),
};
