import type { TableColumns } from '../parquet/fit-lines.ts';

/** The columns of results as Parquet, by the names of their members. Only ever appended to. */
export const resultColumns = {
  id: 'string',
  status: 'string',
  attempts: 'bigint',
  startedAt: 'string',
  finishedAt: 'string',
  sender: 'string',
  note: 'string',
  error: 'json',
  response: 'json',
  _other: 'string',
} as const satisfies TableColumns;

/** The columns of scored texts as Parquet. Only ever appended to. */
export const scoreColumns = {
  batch: 'string',
  chunk: 'bigint',
  line: 'bigint',
  id: 'string',
  columns: 'map<string,string>',
  sentiment: 'string',
  topicSentiments: 'json',
  model: 'string',
  error: 'string',
  erased: 'boolean',
  textHash: 'string',
  _other: 'string',
} as const satisfies TableColumns;
