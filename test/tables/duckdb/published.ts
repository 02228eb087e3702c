import type { Run } from '../../../lib/snapshot/keys.ts';
import type { Store } from '../../../lib/store/store.ts';
import type { Tables } from '../../../lib/tables/duckdb/open-tables.ts';
import { monday, publishLines, tuesday } from '../../snapshot/changes/publish-lines.ts';

/** A calculation of a published run; `more` is the rest of its members as JSON. */
export const calculation = (id: number | string, name: string, more = ''): string =>
  `{"id":${id},"name":"${name}"${more === '' ? '' : `,${more}`}}`;

/** Two runs of calculations: two records on Monday, one on Tuesday. */
export async function publishTwoRuns(store: Store): Promise<void> {
  const lines = [
    calculation(1036, 'Revenue', '"locked":true,"lastModified":1700000000123'),
    calculation('123456789012345678901234567890', 'Cost'),
  ];
  await publishLines(store, { run: monday, lines });
  await publishLines(store, { run: tuesday, lines: lines.slice(1) });
}

/** The rows of a query, each as its values. */
export async function rowsOf(tables: Tables, sql: string) {
  return (await tables.run(sql, { maxRows: 1_000 })).first;
}

/** A run on a day of a month: `2026-10`. */
export function runOn(month: string, day: number): Run {
  const date = `${month}-${String(day).padStart(2, '0')}`;
  return { id: `${date.replaceAll('-', '')}T090000Z-aaaaaa`, startedAt: `${date}T09:00:00.000Z` };
}
