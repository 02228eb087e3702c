import * as z from 'zod/mini';
import { calculationFlags, cardFlags, ownedCounts } from '../../../lib/report/facts.ts';
import { byName, count, moment, text } from './common.ts';

/** How many things have a flag, and the ids of the first thousand. */
const figure = z.strictObject({ count, ids: z.array(text) });

const { global: _, hidden: __, ...ofCalculations } = calculationFlags;

const each = <N extends string, S extends z.core.$ZodType>(names: readonly N[], schema: S) =>
  Object.fromEntries(names.map((name) => [name, schema])) as Record<N, S>;

const figures = {
  as_of: z.nullable(moment),
  as_of_runs: byName(text),
  calculations: z.nullable(z.strictObject({ total: count, ...each(Object.keys(ofCalculations), figure) })),
  cards: z.nullable(z.strictObject({ total: count, ...each(Object.keys(cardFlags), figure) })),
  datasets: z.array(
    z.strictObject({ dataset_id: text, cards: count, calculations: count, broken_links: count }),
  ),
  datasets_total: count,
  owners: z.array(
    z.strictObject({
      user_id: text,
      name: z.nullable(text),
      ...each(ownedCounts, count),
      oldest_modified: z.nullable(z.number()),
    }),
  ),
  owners_total: count,
  files: z.nullable(
    z.strictObject({
      total: count,
      bytes: count,
      filesets: z.array(z.strictObject({ id: text, files: count, bytes: count })),
    }),
  ),
  data_files: z.nullable(z.strictObject({ total: count })),
  jobs: z.array(z.strictObject({ type: text, done: count, failed: count, unknown: count })),
};

const writtenReport = z.strictObject({
  output: text,
  bytes: count,
  opened: z.boolean(),
  runs: z.array(z.strictObject({ source: text, run: text, startedAt: moment, records: count })),
  narrowed: z.array(z.strictObject({ source: text, places: z.array(text) })),
  faults: z.array(text),
  ...figures,
});

/** With `--link`. */
const reportLink = z.strictObject({
  link: text,
  until: z.nullable(moment),
  isTemporary: z.boolean(),
  writtenAt: moment,
  runs: byName(text),
});

export const report = z.union([writtenReport, reportLink]);
