import { activeLinksOf, type Calculation, type CalculationTable, type Link } from './calculation-table.ts';

type CalculationQuery = {
  readonly filters: readonly CalculationFilter[];
  readonly name: string;
  readonly sort: { readonly field: string; readonly ascending: boolean };
  readonly limit: number;
  readonly offset: number;
  /** Sequence numbers of rows that the total counts, but that are on no page. */
  readonly hidden?: ReadonlySet<number>;
};

/**
 * Returns the sequence numbers of a page of calculations, and the number of all matches; or why the query is refused.
 */
export type CalculationSearch = (
  query: CalculationQuery,
) =>
  | { readonly kind: 'page'; readonly totalHits: number; readonly sequences: readonly number[] }
  | { readonly kind: 'refused'; readonly message: string };

/** Searches a table. The matches are cached until the table changes, so that the next page is a slice of them. */
export function createCalculationSearch(table: CalculationTable, facts: FilterFacts): CalculationSearch {
  let cached: { readonly key: string; readonly sequences: readonly number[] } | undefined;

  const filtered = (sorted: readonly number[], query: CalculationQuery, filters: readonly Matches[]) => {
    if (filters.length === 0 && query.name === '') return sorted;
    const key = JSON.stringify(
      [table.version(), query.filters, query.name, query.sort.field.toLowerCase()],
      bigintToString,
    );
    if (cached?.key === key) return cached.sequences;
    const name = query.name.toLowerCase();
    const fits = (calculation: Calculation) =>
      calculation.name.toLowerCase().includes(name) && filters.every((matches) => matches(calculation));
    cached = { key, sequences: sorted.filter((sequence) => fits(table.at(sequence))) };
    return cached.sequences;
  };

  return (query) => {
    const sorted = sortedBy(table, query.sort.field);
    if (sorted === undefined) return { kind: 'refused', message: `unknown sort field ${query.sort.field}` };
    const results = query.filters.map((filter) => calculationFilter(filter, facts));
    const unknown = results.find((result) => result.kind === 'unknown');
    if (unknown !== undefined) return { kind: 'refused', message: `unknown filter field ${unknown.field}` };
    const filters = results.flatMap((result) => (result.kind === 'filter' ? [result.matches] : []));
    const hits = filtered(sorted, query, filters);
    const { hidden } = query;
    const visible = hidden === undefined ? hits : hits.filter((sequence) => !hidden.has(sequence));
    return { kind: 'page', totalHits: hits.length, sequences: slice(visible, query) };
  };
}

function sortedBy(table: CalculationTable, field: string): readonly number[] | undefined {
  switch (field.toLowerCase()) {
    case 'id':
    case 'created':
      // Ids ascend in the order of creation.
      return table.byId();
    case 'name':
      return table.byName();
    default:
      return undefined;
  }
}

function slice(hits: readonly number[], { sort, offset, limit }: CalculationQuery): readonly number[] {
  if (sort.ascending) return hits.slice(offset, offset + limit);
  return hits.slice(Math.max(0, hits.length - offset - limit), Math.max(0, hits.length - offset)).reverse();
}

const bigintToString = (_key: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);

type CalculationFilter = {
  readonly field: string;
  readonly value?: unknown;
  readonly idList?: unknown;
};

type FilterFacts = {
  readonly expressionOf: (calculation: Calculation) => string;
  readonly dataTypeOf: (calculation: Calculation) => string;
};

type Matches = (calculation: Calculation) => boolean;

/**
 * Creates the filter for a field. `not` before the field's name negates it (`notArchived`, `not archived`).
 * A filter without a value matches every record that has a value.
 */
function calculationFilter(
  filter: CalculationFilter,
  facts: FilterFacts,
):
  | { readonly kind: 'filter'; readonly matches: Matches }
  | { readonly kind: 'unknown'; readonly field: string } {
  const name = filter.field.trim().toLowerCase();
  const plain = FIELDS[name] === undefined ? name.replace(/^not[ _-]?/, '') : name;
  const field = Object.hasOwn(FIELDS, plain) ? FIELDS[plain] : undefined;
  if (field === undefined) return { kind: 'unknown', field: filter.field };
  const matches = field(acceptedValues(filter), facts);
  return { kind: 'filter', matches: plain === name ? matches : (calculation) => !matches(calculation) };
}

/** The values that a filter accepts: `value` (a single value or a list) and `idList`. */
function acceptedValues({ value, idList }: CalculationFilter): readonly string[] {
  return [value, idList]
    .flat()
    .flatMap((each) => (each === undefined || each === null ? [] : [String(each)]));
}

type Field = (values: readonly string[], facts: FilterFacts) => Matches;

const flag =
  (read: Matches): Field =>
  ([value]) =>
  (calculation) =>
    read(calculation) === (value?.toLowerCase() !== 'false');

/** Compares strings, ignoring case. If no value is requested, every record that has a value matches. */
const strings =
  (read: (calculation: Calculation, facts: FilterFacts) => readonly string[]): Field =>
  (requested, facts) => {
    const lowered = new Set(requested.map((each) => each.toLowerCase()));
    return (calculation) => {
      const values = read(calculation, facts);
      return lowered.size === 0 ? values.length > 0 : values.some((each) => lowered.has(each.toLowerCase()));
    };
  };

/** Matches times at or after the requested moment, which is in epoch milliseconds or ISO 8601. */
const since =
  (read: (calculation: Calculation) => number): Field =>
  ([moment]) => {
    const fromMs =
      moment === undefined
        ? Number.NEGATIVE_INFINITY
        : /^-?\d+$/.test(moment)
          ? Number(moment)
          : Date.parse(moment);
    return (calculation) => read(calculation) >= fromMs;
  };

const links = (type?: Link['resource']['type']): Field =>
  strings((calculation) =>
    calculation.links
      .filter(({ resource }) => type === undefined || resource.type === type)
      .flatMap(({ resource }) => (resource.type === 'CARD' ? cardIds(resource.id) : [resource.id])),
  );

/** The ids by which a filter finds a card: the whole id of its link, and each number in it. */
const cardIds = (id: string): readonly string[] => [
  id,
  ...id.split(':').filter((part) => /^\d+$/.test(part)),
];

const isActive: Matches = (calculation) => Object.keys(activeLinksOf(calculation)).length > 0;

const FIELDS: Readonly<Record<string, Field>> = {
  active: flag(isActive),
  archived: flag(({ archived }) => archived),
  card: links('CARD'),
  column: strings((calculation, { expressionOf }) => columnsIn(expressionOf(calculation))),
  created: since(({ created }) => created),
  dataset: links('DATA_SOURCE'),
  datatype: strings((calculation, { dataTypeOf }) => [dataTypeOf(calculation)]),
  function: strings((calculation, { expressionOf }) => functionsIn(expressionOf(calculation))),
  global: flag(({ global }) => global),
  inactive: flag((calculation) => !isActive(calculation)),
  legacyid: strings(({ legacyId }) => [legacyId]),
  link: links(),
  locked: flag(({ locked }) => locked),
  modified: since(({ lastModified }) => lastModified),
  name: (names) => (calculation) =>
    names.length === 0 || names.some((each) => calculation.name.toLowerCase().includes(each.toLowerCase())),
  nested: flag(({ references }) => references.length > 0),
  owner: strings(({ owner }) => [String(owner)]),
  status: strings(({ status }) => [status]),
  variable: flag(({ variable }) => variable),
};

/*
 * Functions and columns are found with a regular expression, since parsing all formulas would take seconds. The result
 * is the same.
 */

const WORDS = /'(?:[^'\\]|\\.|'')*'|--[^\n]*|\/\*[\s\S]*?\*\/|`([^`]*)`|([A-Za-z_]\w*)\s*(?=\()/g;

/** Words that may precede a parenthesis without being functions. */
const KEYWORDS = new Set(
  'IN AND OR NOT THEN ELSE WHEN CASE BY ADD REMOVE OVER FIXED LIKE DISTINCT INTERVAL'.split(' '),
);

function columnsIn(formula: string): readonly string[] {
  return [
    ...new Set([...formula.matchAll(WORDS)].flatMap(([, column]) => (column === undefined ? [] : [column]))),
  ];
}

/** The functions that a formula calls, in upper case, without operators. */
function functionsIn(formula: string): readonly string[] {
  const names = [...formula.matchAll(WORDS)].flatMap(([, , name]) =>
    name === undefined ? [] : [name.toUpperCase()],
  );
  return [...new Set(names)].filter((name) => !KEYWORDS.has(name));
}
