import type { Columns } from '../../snapshot/sources/source-definition.ts';
import { momentOf, type View } from './view.ts';

const columns = {
  place: { type: 'string', about: 'what was taken: a source, or a narrowed snapshot' },
  source: { type: 'string', about: 'calculations, files, cards or data-files' },
  run: { type: 'string', about: 'the name of the run' },
  dt: { type: 'string', about: 'the day on which it began, as text' },
  latest: { type: 'boolean', about: 'whether it is the latest of its place' },
  startedat: { type: 'timestamp', about: 'when it began, in UTC' },
  finishedat: { type: 'timestamp', about: 'when it had read everything, in UTC' },
  records: { type: 'bigint', about: 'how many records it has' },
  missing: { type: 'bigint', about: 'how many ids could not be read' },
  consistency: { type: 'string', about: 'proved, or best-effort' },
  against: { type: 'string', about: 'the run that it was compared with' },
  added: { type: 'bigint', about: 'how many records that one lacks' },
  removed: { type: 'bigint', about: 'how many records of that one are gone' },
  changed: { type: 'bigint', about: 'how many records differ' },
  parts: { type: 'bigint', about: 'how many parts it has' },
  bytes: { type: 'bigint', about: 'the size of its parts, compressed' },
  requests: { type: 'bigint', about: 'how many requests it took' },
  retries: { type: 'bigint', about: 'how many of these were retries' },
  throttled: { type: 'bigint', about: 'how often the platform answered 429' },
  parquetbytes: { type: 'bigint', about: 'the size of its Parquet' },
  other: { type: 'bigint', about: 'how many values of its records are in _other' },
  forced: { type: 'boolean', about: 'whether it was published by force' },
  refused: { type: 'array<string>', about: 'the reasons for which it was to be refused' },
  platform: { type: 'string', about: 'the host of the platform' },
} as const satisfies View['columns'];

/** What is stored of a run: moments as text. */
export const runColumns: Columns = Object.fromEntries(
  Object.entries(columns).map(([name, { type }]) => [name, type === 'timestamp' ? 'string' : type]),
);

const shown = Object.entries(columns).map(([name, { type }]) =>
  type === 'timestamp' ? `${momentOf(name)} AS ${name}` : name,
);

/** The published runs of all places. */
export const runsView: View = {
  name: 'runs',
  about: 'a published run of any place',
  columns,
  sql: `SELECT ${shown.join(', ')} FROM stored_runs`,
};
