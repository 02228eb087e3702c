import { join } from 'node:path';
import { byPip } from '../fetch/pip.ts';
import type { Engine } from './engine.ts';

/** DuckDB, pandas and polars in Python, each of a fixed version; 630 MB with what they need. */
export const pythonReaders: Engine = {
  name: 'Python readers',
  version: 'duckdb-2.0.0-pandas-3.1.1-polars-2.1.0',
  fetch: byPip('duckdb==2.0.0', 'pandas==3.1.1', 'polars==2.1.0', 'pyarrow==26.0.1'),
  start: ({ fetched }) => ({
    engines: { pythonReaders: { command: [join(fetched, 'venv', 'bin', 'python')] } },
  }),
};
