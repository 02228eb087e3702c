import { type Flag, flagsOf } from './flags.ts';

/** When the runs of the model were the last ones, in epoch milliseconds: the same in all rows. */
const asOf = { as_of: 'bigint' } as const;

/** A record joins by its id as it was sent; `thing_id` is canonical, as all other ids are. */
export const recordColumns = { record_id: 'string', thing_id: 'string', ...asOf } as const;

export const flagColumns = <Name extends Flag>(names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, 'boolean'])) as Readonly<Record<Name, 'boolean'>>;

/** The columns of each table of a model. */
export const modelColumns = {
  calculations: { ...recordColumns, ...flagColumns(flagsOf.calculation) },
  cards: { ...recordColumns, ...flagColumns(flagsOf.card) },
  datasets: {
    dataset_id: 'string',
    cards: 'bigint',
    calculations: 'bigint',
    broken_links: 'bigint',
    ...asOf,
  },
  owners: {
    user_id: 'string',
    name: 'string',
    calculations: 'bigint',
    cards: 'bigint',
    files: 'bigint',
    data_files: 'bigint',
    locked: 'bigint',
    oldest_modified: 'bigint',
    broken_links: 'bigint',
    invalid: 'bigint',
    missing_target: 'bigint',
    affected: 'bigint',
    unused: 'bigint',
    ...asOf,
  },
  uses: {
    user_kind: 'string',
    user_id: 'string',
    used_kind: 'string',
    used_id: 'string',
    relation: 'string',
    validity: 'string',
    broken: 'boolean',
    stated_by: 'string',
    stater_kind: 'string',
    stater_id: 'string',
    ...asOf,
  },
} as const;

export type ModelTable = keyof typeof modelColumns;

export const modelTables = Object.keys(modelColumns) as readonly ModelTable[];
