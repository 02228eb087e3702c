import { moto } from '../engines/moto.ts';
import { trino } from '../engines/trino.ts';
import type { Suite } from './suite.ts';

/** The tables and saved queries in Athena's place. */
export const sql: Suite = [
  {
    engines: [moto, trino],
    files: ['test/conformance/sql/sql.conformance.ts'],
  },
];
