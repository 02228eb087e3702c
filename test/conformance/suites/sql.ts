import { moto } from '../engines/moto.ts';
import { trino } from '../engines/trino.ts';
import type { Suite } from './suite.ts';

/** The tables and saved queries in Athena's place. Not quick: Trino alone is 800 MB. */
export const sql: Suite = [
  {
    engines: [moto, trino],
    quick: false,
    files: ['test/conformance/sql/sql.conformance.ts'],
  },
];
