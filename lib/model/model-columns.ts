import { brokenFlags, type Flag, flagsOf } from './flags.ts';

/** When the runs of the model were the last ones, in epoch milliseconds: the same in all rows. */
const asOf = { as_of: 'bigint' } as const;

/** A record joins by its id as it was sent; `thing_id` is canonical, as all other ids are. */
export const recordColumns = { record_id: 'string', thing_id: 'string', ...asOf } as const;

export const flagColumns = <Name extends Flag>(names: readonly Name[]) => typed('boolean', names);

/** What is counted of a user, and what of these has a flag. */
export const ownedNames = ['calculations', 'cards', 'files', 'data_files', 'locked'] as const;
export const wrongFlags = [...brokenFlags, 'unused'] as const satisfies Flag[];
const ends = ['user_kind', 'user_id', 'used_kind', 'used_id', 'stater_kind', 'stater_id'] as const;

/** The columns of each table of a model. */
export const modelColumns = {
  calculations: { ...recordColumns, ...flagColumns(flagsOf.calculation) },
  cards: { ...recordColumns, ...flagColumns(flagsOf.card) },
  datasets: { dataset_id: 'string', ...typed('bigint', ['cards', 'calculations', 'broken_links']), ...asOf },
  owners: {
    ...typed('string', ['user_id', 'name']),
    ...typed('bigint', [...ownedNames, 'oldest_modified', ...wrongFlags]),
    ...asOf,
  },
  uses: { ...typed('string', [...ends, 'relation', 'validity', 'stated_by']), broken: 'boolean', ...asOf },
} as const;

function typed<T extends string, Name extends string>(type: T, names: readonly Name[]) {
  return Object.fromEntries(names.map((name) => [name, type])) as Readonly<Record<Name, T>>;
}

export type ModelTable = keyof typeof modelColumns;

export const modelTables = Object.keys(modelColumns) as readonly ModelTable[];
