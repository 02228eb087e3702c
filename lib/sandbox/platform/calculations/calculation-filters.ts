import { activeLinksOf, type Calculation, type Link } from './calculation.ts';

export type CalculationFilter = {
  readonly field: string;
  readonly value?: unknown;
  readonly idList?: unknown;
};

export type FilterFacts = {
  readonly expressionOf: (calculation: Calculation) => string;
  readonly dataTypeOf: (calculation: Calculation) => string;
};

export type Matches = (calculation: Calculation) => boolean;

export type FilterResult =
  | { readonly kind: 'filter'; readonly matches: Matches }
  | { readonly kind: 'unknown'; readonly field: string };

/** `not` before the field's name negates it (`notArchived`, `not archived`). Without a value, any value matches. */
export function calculationFilter(filter: CalculationFilter, facts: FilterFacts): FilterResult {
  const name = filter.field.trim().toLowerCase();
  const plain = FIELDS[name] === undefined ? name.replace(/^not[ _-]?/, '') : name;
  const field = Object.hasOwn(FIELDS, plain) ? FIELDS[plain] : undefined;
  if (field === undefined) return { kind: 'unknown', field: filter.field };
  const matches = field(wantedOf(filter), facts);
  return { kind: 'filter', matches: plain === name ? matches : (calculation) => !matches(calculation) };
}

/** From `value` (one or a list) and `idList`. */
function wantedOf({ value, idList }: CalculationFilter): readonly string[] {
  return [value, idList]
    .flat()
    .flatMap((each) => (each === undefined || each === null ? [] : [String(each)]));
}

type Field = (wanted: readonly string[], facts: FilterFacts) => Matches;

const flag =
  (read: Matches): Field =>
  (wanted) =>
  (calculation) =>
    read(calculation) === (wanted[0]?.toLowerCase() !== 'false');

/** Ignores case; any text matches if none is wanted. */
const texts =
  (read: (calculation: Calculation, facts: FilterFacts) => readonly string[]): Field =>
  (wanted, facts) => {
    const lowered = new Set(wanted.map((each) => each.toLowerCase()));
    return (calculation) => {
      const found = read(calculation, facts);
      return lowered.size === 0 ? found.length > 0 : found.some((each) => lowered.has(each.toLowerCase()));
    };
  };

/** At or after the wanted moment, which is epoch milliseconds or ISO text. */
const since =
  (read: (calculation: Calculation) => number): Field =>
  ([wanted]) => {
    const fromMs =
      wanted === undefined
        ? Number.NEGATIVE_INFINITY
        : /^-?\d+$/.test(wanted)
          ? Number(wanted)
          : Date.parse(wanted);
    return (calculation) => read(calculation) >= fromMs;
  };

const links = (type?: Link['resource']['type']): Field =>
  texts((calculation) =>
    calculation.links
      .filter(({ resource }) => type === undefined || resource.type === type)
      .flatMap(({ resource }) => (resource.type === 'CARD' ? cardNames(resource.id) : [resource.id])),
  );

/** A card matches by the whole id of its link and by each number in it. */
const cardNames = (id: string): readonly string[] => [
  id,
  ...id.split(':').filter((part) => /^\d+$/.test(part)),
];

const isActive: Matches = (calculation) => Object.keys(activeLinksOf(calculation)).length > 0;

const FIELDS: Readonly<Record<string, Field>> = {
  active: flag(isActive),
  archived: flag(({ archived }) => archived),
  card: links('CARD'),
  column: texts((calculation, { expressionOf }) => columnsIn(expressionOf(calculation))),
  created: since(({ created }) => created),
  dataset: links('DATA_SOURCE'),
  datatype: texts((calculation, { dataTypeOf }) => [dataTypeOf(calculation)]),
  function: texts((calculation, { expressionOf }) => functionsIn(expressionOf(calculation))),
  global: flag(({ global }) => global),
  inactive: flag((calculation) => !isActive(calculation)),
  legacyid: texts(({ legacyId }) => [legacyId]),
  link: links(),
  locked: flag(({ locked }) => locked),
  modified: since(({ lastModified }) => lastModified),
  name: (wanted) => (calculation) =>
    wanted.length === 0 || wanted.some((each) => calculation.name.toLowerCase().includes(each.toLowerCase())),
  nested: flag(({ references }) => references.length > 0),
  owner: texts(({ owner }) => [String(owner)]),
  status: texts(({ status }) => [status]),
  variable: flag(({ variable }) => variable),
};

/* Finds words without parsing, which would take seconds for all formulas; exact for functions and columns. */

const WORDS = /'(?:[^'\\]|\\.|'')*'|--[^\n]*|\/\*[\s\S]*?\*\/|`([^`]*)`|([A-Za-z_]\w*)\s*(?=\()/g;

/** Words that may precede a parenthesis without being functions. */
const NO_FUNCTION = new Set(
  'IN AND OR NOT THEN ELSE WHEN CASE BY ADD REMOVE OVER FIXED LIKE DISTINCT INTERVAL'.split(' '),
);

function columnsIn(formula: string): readonly string[] {
  return [
    ...new Set([...formula.matchAll(WORDS)].flatMap(([, column]) => (column === undefined ? [] : [column]))),
  ];
}

/** In upper case, without operators. */
function functionsIn(formula: string): readonly string[] {
  const names = [...formula.matchAll(WORDS)].flatMap(([, , name]) =>
    name === undefined ? [] : [name.toUpperCase()],
  );
  return [...new Set(names)].filter((name) => !NO_FUNCTION.has(name));
}
