import {
  type Column,
  epochMoment,
  isId,
  moment,
  type StoredColumn,
  stored,
  storedId,
  storedTypes,
  storedWord,
  type TableDefinition,
  text,
} from '../columns.ts';
import { type Flag, flagMeanings, flagsOf, relations } from './rules/index.ts';

const as_of = stored(
  'bigint',
  moment(epochMoment('as_of'), 'when the runs behind the flags were the latest, in UTC'),
);

/**
 * The columns that join records to things. `record_id`: the id as the platform sent it; `thing_id`: its canonical form,
 * as in all other id columns.
 */
const ids = { record_id: stored('string'), thing_id: stored('string') };

/** Other names that users may try for the columns of flags. */
const flagGuesses: Partial<Record<Flag, readonly string[]>> = {
  broken_links: ['broken', 'is_broken'],
  unused: ['is_unused', 'used', 'in_use'],
  same_name: ['duplicate', 'duplicates', 'is_duplicate'],
};

const flags = <Name extends Flag>(names: readonly Name[]) =>
  Object.fromEntries(
    names.map((flag) => [flag, stored('boolean', flagMeanings[flag], { guesses: flagGuesses[flag] ?? [] })]),
  ) as Readonly<Record<Name, StoredColumn<'boolean'>>>;

const since = (name: string, state: string) =>
  stored(
    'bigint',
    moment(
      epochMoment(name),
      `when the first run that showed it as ${state} began, in UTC; null if it is not`,
    ),
  );

const broken_since = since('broken_since', 'broken itself: broken links, invalid, or a missing target');

/** A column with a list of strings, stored as JSON. */
const stringList = (name: string, about: string): Column => ({
  type: 'array<string>',
  sql: `CAST(json_parse(${name}) AS array(varchar))`,
  about,
});

const kinds = ['calculation', 'card'] as const;

/** The tables of a model. SQL shows the columns of calculations and cards in the tables of their records. */
export const modelTables = {
  calculations: {
    about: 'a calculation, with what the model knows about it',
    columns: {
      ...ids,
      ...flags(flagsOf.calculation),
      unused_since: since('unused_since', 'unused'),
      broken_since,
      as_of,
    },
  },
  cards: {
    about: 'a card, with what the model knows about it',
    columns: { ...ids, ...flags(flagsOf.card), broken_since, as_of },
  },
  uses: {
    about: 'what uses what, each pair once, as the latest published runs state it',
    columns: {
      user_kind: storedWord('user_kind', kinds, {
        more: ': the kind of thing that uses another',
        guesses: ['from_kind', 'user_type'],
      }),
      user_id: storedId(
        'its id, as in calculation_id and card_id',
        'from_id',
        'source_id',
        'calculation_id',
        'card_id',
        'user',
      ),
      used_kind: storedWord('used_kind', [...kinds, 'dataset', 'column', 'other'], {
        more: ': the kind of thing that is used, and whose users would break without it',
        guesses: ['to_kind', 'used_type', 'kind'],
      }),
      used_id: storedId(
        'its id; for a column, DATASET:COLUMN in lower case; for the kind other, TYPE:ID',
        'to_id',
        'target_id',
        'dataset_id',
        'used',
        'id',
      ),
      relation: storedWord('relation', relations, {
        more: ', read as user relation used',
        guesses: ['type'],
      }),
      validity: storedWord(
        'validity',
        'the validity that the link states, in lower case; null if it states none',
        {
          guesses: ['valid', 'status'],
        },
      ),
      broken: stored('boolean', 'whether the link is broken: its validity is not valid'),
      stated_by: stored('string', 'the first field that states the use'),
      stater_kind: storedWord('stater_kind', 'the kind of the thing whose record states it'),
      stater_id: storedId('the id of that thing'),
      as_of,
    },
    guesses: ['dependencies', 'usage', 'usages', 'edges', 'references'],
  },
  datasets: {
    about: 'a dataset that something uses',
    columns: {
      dataset_id: storedId('the id of the dataset', 'id', 'dataset'),
      cards: stored('bigint', 'how many cards use it'),
      calculations: stored('bigint', 'how many calculations use it'),
      broken_links: stored('bigint', 'how many of these cards and calculations use it through a broken link'),
      as_of,
    },
    guesses: ['datasources'],
  },
  formulas: {
    about: 'a calculation whose formula is known, since platform-sync set or imported it',
    columns: {
      calculation_id: storedId('the id of the calculation', 'id'),
      name: stored(
        'string',
        'its name in its record; without a record, its name in the update or the import',
      ),
      expression: stored('string', 'its formula', { guesses: ['formula', 'text'] }),
      status: storedWord('status', ['valid', 'invalid'], { more: ', as it is parsed here' }),
      data_type: storedWord('data_type', 'the type of its result, in lower case'),
      columns: stored('string', stringList('columns', 'the columns that it reads')),
      functions: stored('string', stringList('functions', 'the functions that it calls, in upper case')),
      source: storedWord('source', ['update', 'import']),
      known_at: stored('bigint', moment(epochMoment('known_at'), 'when it was set or imported, in UTC')),
      as_of,
    },
    guesses: ['expressions'],
  },
  owners: {
    about: 'a user who owns something, with what is wrong with it',
    columns: {
      user_id: storedId('the id of the user', 'id', 'owner', 'user'),
      name: stored('string', 'the name, if a card gives it', { guesses: ['user_name', 'display_name'] }),
      owner_id: text('user_id', 'the same as user_id', isId),
      owner_name: text('name', 'the same as name', { guesses: ['owners'] }),
      calculations: stored('bigint', 'how many calculations they own'),
      cards: stored('bigint', 'how many cards they own'),
      files: stored('bigint', 'how many files they own'),
      data_files: stored('bigint', 'how many data files they own'),
      locked: stored('bigint', 'how many of the calculations are locked'),
      oldest_modified_at: moment(
        epochMoment('oldest_modified'),
        'the last change of the calculation that has been unchanged for longest, in UTC',
      ),
      oldest_modified: stored('bigint'),
      broken_links: stored('bigint', 'how many of the calculations and cards have broken links'),
      invalid: stored('bigint', 'how many are invalid'),
      missing_target: stored('bigint', 'how many use something that does not exist'),
      affected: stored('bigint', 'how many depend on a thing with one of these three faults'),
      unused: stored('bigint', 'how many of the calculations are used by nothing'),
      as_of,
    },
    guesses: ['people'],
  },
} as const satisfies Readonly<Record<string, TableDefinition>>;

/** The name of a table of the model. */
export type ModelTable = keyof typeof modelTables;

/** The stored types of the columns of each table. */
export const modelColumns = {
  calculations: storedTypes(modelTables.calculations.columns),
  cards: storedTypes(modelTables.cards.columns),
  datasets: storedTypes(modelTables.datasets.columns),
  owners: storedTypes(modelTables.owners.columns),
  uses: storedTypes(modelTables.uses.columns),
  formulas: storedTypes(modelTables.formulas.columns),
} as const;

/** The names of all tables of the model. */
export const modelTableNames = Object.keys(modelTables) as readonly ModelTable[];
