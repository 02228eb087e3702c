import type { Columns } from '../../snapshot/sources/index.ts';

export type StoredTable = {
  /** The folder of the store that it lies in. Ends in a slash. */
  readonly folder: string;
  /**
   * By the names in the objects; only ever appended to. A `json` column has any value that the platform or a user sent.
   */
  readonly columns: Columns;
  /** The columns that come from the folders in it, in their order: text, which follows `prefix` in the folder's name. */
  readonly partitions: readonly { readonly name: string; readonly prefix: string }[];
};

const columnsOfRuns = {
  ...typed('string', ['place', 'source', 'run', 'dt', 'startedat', 'finishedat', 'consistency']),
  ...typed('string', ['against', 'platform']),
  ...typed('boolean', ['latest', 'forced']),
  ...typed('bigint', ['records', 'missing', 'added', 'removed', 'changed', 'parts', 'bytes']),
  ...typed('bigint', ['requests', 'retries', 'throttled', 'parquetbytes', 'other']),
  refused: 'array<string>',
} as const;

/**
 * What the platform or a user sent is text there, as JSON where it is not text itself, so that no value breaks a query;
 * what only this program writes has its type.
 */
export const storedTables = {
  runs: {
    folder: 'parquet/runs/',
    columns: columnsOfRuns,
    partitions: [],
  },
  jobs: {
    folder: 'results/',
    columns: {
      id: 'string',
      status: 'string',
      attempts: 'bigint',
      startedAt: 'string',
      finishedAt: 'string',
      sender: 'string',
      note: 'string',
      error: 'json',
      response: 'json',
    },
    partitions: [
      { name: 'type', prefix: '' },
      { name: 'dt', prefix: 'dt=' },
    ],
  },
  refused: {
    folder: 'refused/',
    columns: {
      messageId: 'string',
      sender: 'string',
      sentAt: 'string',
      faults: 'array<string>',
      body: 'string',
    },
    partitions: [],
  },
  scores: {
    folder: 'scores/',
    columns: {
      id: 'string',
      line: 'bigint',
      columns: 'map<string,string>',
      textHash: 'string',
      topicSentiments: 'json',
      sentiment: 'string',
      model: 'string',
      error: 'string',
      erased: 'boolean',
      batch: 'string',
      chunk: 'bigint',
      outcome: 'string',
      day: 'string',
      sent: 'json',
      cached: 'bigint',
      calls: 'bigint',
      paidAgain: 'bigint',
      tokens: 'struct<input:bigint,output:bigint,total:bigint,reasoning:bigint>',
    },
    partitions: [],
  },
  formulas: {
    folder: 'formulas/',
    columns: {
      id: 'string',
      name: 'string',
      expression: 'string',
      status: 'string',
      lastModified: 'bigint',
    },
    partitions: [],
  },
  changes: {
    folder: 'changes/',
    columns: {
      change: 'string',
      key: 'string',
      before: 'json',
      after: 'json',
      fields: 'array<string>',
    },
    partitions: [
      { name: 'place', prefix: '' },
      { name: 'dt', prefix: 'dt=' },
      { name: 'run', prefix: 'run=' },
    ],
  },
} as const satisfies Readonly<Record<string, StoredTable>>;

export type StoredTableName = keyof typeof storedTables;

/** The columns of a table as Parquet: its own, and what does not fit them. */
export const withOther = <C extends Columns>(columns: C) => ({ ...columns, _other: 'string' }) as const;

export const runColumns = withOther(storedTables.runs.columns);
export const changesColumns = withOther(storedTables.changes.columns);

function typed<T extends string, Name extends string>(type: T, names: readonly Name[]) {
  return Object.fromEntries(names.map((name) => [name, type])) as Readonly<Record<Name, T>>;
}
