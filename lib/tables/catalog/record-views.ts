import { type TableColumns, text } from '../../columns.ts';
import { modelColumns, modelTables } from '../../model/index.ts';
import { CANONICAL_DIGITS } from '../../model/rules/index.ts';
import {
  isSource,
  type Place,
  type Source,
  sourceDefinitions,
  sourceOf,
} from '../../snapshot/sources/index.ts';
import { latestModel, NEEDS_MODEL, type View, viewOf } from './view.ts';

/** The owners of the model, with the columns named as no other column is. */
const OWNERS = `(SELECT user_id AS id_of_owner, name AS name_of_owner FROM ${latestModel('owners')} AS owners)`;

/** What every table of records ends in. */
const LAST: TableColumns = {
  _other: text('_other', 'what has no column or does not fit its own, as JSON; else null'),
  dt: text('dt', 'the day on which the run began, as text: 2026-11-21', { guesses: ['day', 'date'] }),
  run: text('run', 'the run that the row is of', { guesses: ['run_id'] }),
};

/** True for a source whose ids the model writes in one form. */
const isFlagged = (source: Source): source is 'calculations' | 'cards' => Object.hasOwn(modelTables, source);

/** The columns of a source whose field a list does not send, with that field. */
export const unsentColumns = (source: Source): readonly (readonly [column: string, field: string])[] =>
  Object.entries(sourceDefinitions[source].table.columns).flatMap(([name, { isUnsent }]) =>
    isUnsent ? [[name.toLowerCase(), name] as const] : [],
  );

/**
 * A column of the model where there is no model yet: reading it fails the query, except in a row with a value of its
 * own.
 */
const lacking = (name: string, type: string, given = ''): string =>
  `CASE ${given}WHEN error('${NEEDS_MODEL}' || left(coalesce(_other, ''), 0)) IS NULL THEN CAST(NULL AS ${type === 'string' ? 'varchar' : type}) END AS ${name}`;

const LACKING_OWNER = lacking('name_of_owner', 'string');

/** The name of the owner in tables of all runs: the model covers only the last ones. */
const OF_ANY_RUN = 'CAST(NULL AS varchar) AS name_of_owner';

/** The views of a place: its latest run, and all of its runs. `name` is that of its table. */
export function recordViews(place: Place, name: string): readonly View[] {
  const source = sourceOf(place);
  const { table, described } = sourceDefinitions[source];
  const { row, guesses = [], columns: own } = table;
  const columns = { ...own, ...LAST };
  const { owner_name: _, ...unnamed } = columns;
  const flags = isFlagged(source) ? modelTables[source].columns : {};
  const instead = isSource(place) ? ', or where it has none, of its narrowed snapshots' : '';
  const latest = `a ${row}, in the latest published run of ${place}${instead}`;
  const stored = `stored_latest_${name}`;
  const owned = `LEFT JOIN ${OWNERS} AS of_owner ON id_of_owner = lower(${described.owner ?? 'CAST(NULL AS varchar)'})`;
  const [model, lacked] = isFlagged(source)
    ? [`LEFT JOIN ${latestModel(source)} AS model ON record_id = id ${owned}`, lackedOf(source)]
    : [owned, []];
  const missing = [...lacked, LACKING_OWNER].join(', ');
  const shown = { about: latest, columns: { ...columns, ...flags } };
  return [
    {
      ...viewOf(name, { ...shown, guesses: isSource(place) ? guesses : [], from: `FROM ${stored} ${model}` }),
      withoutModel: viewOf(name, { ...shown, from: `FROM (SELECT *, ${missing} FROM ${stored}) AS plain` })
        .sql,
    },
    // An id that the model does not know is as it was sent.
    viewOf(`all_${name}`, {
      about: `a ${row}, in any published run of ${place}`,
      columns: source === 'cards' ? columns : unnamed,
      from: `FROM (SELECT *, CAST(NULL AS varchar) AS thing_id, ${OF_ANY_RUN} FROM stored_${name}) AS plain`,
    }),
  ];
}

/** The columns of the model for a source, where there is no model yet; an id that is digits is known all the same. */
const lackedOf = (source: 'calculations' | 'cards'): readonly string[] =>
  Object.entries(modelColumns[source]).map(([column, type]) =>
    lacking(
      column,
      type,
      column === 'thing_id' ? `WHEN regexp_like(id, '${CANONICAL_DIGITS.source}') THEN id ` : '',
    ),
  );
