import {
  CANONICAL_DIGITS,
  type FlaggedKind,
  flagMeanings,
  flagsOf,
  modelColumns,
} from '../../model/rules/index.ts';
import { type FieldLine, type Made, text } from '../../snapshot/columns/index.ts';
import {
  isSource,
  type Place,
  type Source,
  sourceDefinitions,
  sourceOf,
} from '../../snapshot/sources/index.ts';
import { AS_OF, latestModel, NEEDS_MODEL, type View, viewOf } from './view.ts';

/** The columns of that of the model which names the owner. */
const OWNERS = `(SELECT user_id AS id_of_owner, name AS name_of_owner FROM ${latestModel('owners')} AS owners)`;

const OTHER: Made = text('_other', 'what has no column or does not fit its own, as JSON; else null');

const RUN: Readonly<Record<string, Made>> = {
  dt: text('dt', 'the day on which the run began, as text: 2026-11-21', { guesses: ['day', 'date'] }),
  run: text('run', 'the run that the row is of', { guesses: ['run_id'] }),
};

/** What people call the flags. */
const flagGuesses: Partial<Record<string, readonly string[]>> = {
  broken_links: ['broken', 'is_broken'],
  unused: ['is_unused', 'used', 'in_use'],
  same_name: ['duplicate', 'duplicates', 'is_duplicate'],
};

/** What the model says of records, in the table of a latest run. */
const flagged = {
  calculations: { ...flagsShown('calculation'), as_of: AS_OF },
  cards: { ...flagsShown('card'), as_of: AS_OF },
} as const satisfies Partial<Record<Source, Readonly<Record<string, Made>>>>;

function flagsShown(kind: FlaggedKind): Readonly<Record<string, Made>> {
  return Object.fromEntries(
    flagsOf[kind].map((flag) => [
      flag,
      ['boolean', flag, flagMeanings[flag], { guesses: flagGuesses[flag] ?? [] }],
    ]),
  );
}

/** A source whose ids the model writes in one form. */
const isFlagged = (source: Source): source is keyof typeof flagged => Object.hasOwn(flagged, source);

/** The columns of a source's tables: under the names that people guess, then as the platform calls them. */
function columnsOf(source: Source): Readonly<Record<string, Made>> {
  const { made, fields } = sourceDefinitions[source].view;
  const { columns } = sourceDefinitions[source];
  const platforms = Object.entries<string>(columns).flatMap(([name, type]): [string, Made][] => {
    const line = (fields as Readonly<Record<string, FieldLine>>)[name];
    const lower = name.toLowerCase();
    if (line === undefined || lower in made) return [];
    const [about, use] = typeof line === 'string' ? [line, {}] : line;
    return [[lower, [type, lower, about, use]]];
  });
  return { ...made, ...Object.fromEntries(platforms), _other: OTHER, ...RUN };
}

/** The columns of a source that are of a field that a list lacks, with that field. */
export const unsentColumns = (source: Source): readonly (readonly [column: string, field: string])[] =>
  Object.entries(columnsOf(source)).flatMap(([name, [, , , use]]) =>
    use?.unsent === undefined ? [] : [[name, use.unsent] as const],
  );

/** A column of the model where there is none yet: to read it fails the query, but for a row with a value of its own. */
const lacking = (name: string, type: string, given = ''): string =>
  `CASE ${given}WHEN error('${NEEDS_MODEL}' || left(coalesce(_other, ''), 0)) IS NULL THEN CAST(NULL AS ${type === 'string' ? 'varchar' : type}) END AS ${name}`;

const LACKING_OWNER = lacking('name_of_owner', 'string');

/** The name of the owner as no card of these runs gives it: the model is of the last runs alone. */
const OF_ANY_RUN = 'CAST(NULL AS varchar) AS name_of_owner';

/** The tables of a place: its latest run, and all of its runs. `name` is that of its table. */
export function recordViews(place: Place, name: string): readonly View[] {
  const source = sourceOf(place);
  const { row, owner } = sourceDefinitions[source].view;
  const { owner_name: _, ...unnamed } = columnsOf(source);
  const flags = isFlagged(source) ? flagged[source] : {};
  const columns = { ...columnsOf(source), ...flags };
  const instead = isSource(place) ? ', or where it has none, of its narrowed snapshots' : '';
  const latest = `a ${row}, in the latest published run of ${place}${instead}`;
  const stored = `stored_latest_${name}`;
  const owned = `LEFT JOIN ${OWNERS} AS of_owner ON id_of_owner = lower(${owner})`;
  const [model, lacked] = isFlagged(source)
    ? [`LEFT JOIN ${latestModel(source)} AS model ON record_id = id ${owned}`, lackedOf(source)]
    : [owned, []];
  const missing = [...lacked, LACKING_OWNER].join(', ');
  return [
    {
      ...viewOf(name, latest, columns, `FROM ${stored} ${model}`),
      withoutModel: viewOf(name, latest, columns, `FROM (SELECT *, ${missing} FROM ${stored}) AS plain`).sql,
    },
    // Where the model does not say how an id is written, it is as it was sent.
    viewOf(
      `all_${name}`,
      `a ${row}, in any published run of ${place}`,
      source === 'cards' ? columnsOf(source) : unnamed,
      `FROM (SELECT *, CAST(NULL AS varchar) AS thing_id, ${OF_ANY_RUN} FROM stored_${name}) AS plain`,
    ),
  ];
}

/** What the model says of the records of a source, where there is none yet; an id that is digits is known all the same. */
const lackedOf = (source: keyof typeof flagged): readonly string[] =>
  Object.entries(modelColumns[source]).map(([column, type]) =>
    lacking(
      column,
      type,
      column === 'thing_id' ? `WHEN regexp_like(id, '${CANONICAL_DIGITS.source}') THEN id ` : '',
    ),
  );
