import { type Call, type Expression, type Operation, precedence, precedenceOf } from './syntax.ts';

/**
 * The type of a formula's values, as MySQL would infer it. The formula does not determine the type of another calculation,
 * or of a column that is not in `columnTypes`. (assumed) Such a type is DECIMAL in arithmetic, DATE where an interval moves
 * it, and STRING elsewhere.
 */
export function dataTypeOf(formula: Expression, columnTypes: ColumnTypes = new Map()): DataType {
  return inferred(formula, columnTypes) ?? 'STRING';
}

/** The type of a node; undefined if the formula does not determine it. */
function inferred(node: Expression, columnTypes: ColumnTypes): DataType | undefined {
  const typeOf = (part: Expression) => inferred(part, columnTypes);
  switch (node.kind) {
    case 'column':
      return columnTypes.get(node.name);
    case 'number':
      return /^[\d.]+e/i.test(node.source) ? 'DOUBLE' : node.source.includes('.') ? 'DECIMAL' : 'LONG';
    case 'text':
      return 'STRING';
    case 'constant':
      return node.value === 'NULL' ? undefined : 'LONG';
    case 'negation':
      return widestNumber([typeOf(node.operand)]);
    case 'not':
    case 'in':
    case 'like':
    case 'between':
      return 'LONG';
    case 'operation':
      return typeOfOperation(node, typeOf);
    case 'case':
      return commonType(
        [...node.branches.map(({ result }) => result), node.otherwise].map((part) => part && typeOf(part)),
      );
    case 'call':
      return typeOfCall(node, typeOf);
    case 'fixed':
    case 'window':
      return typeOf(node.call);
    case 'word':
      return castTypeOf(node.text);
    case 'phrase':
      return node.parts[0] && typeOf(node.parts[0]);
    case 'interval':
    case 'star':
      return undefined;
    default:
      return node satisfies never;
  }
}

type TypeOf = (part: Expression) => DataType | undefined;

function typeOfOperation(node: Operation, typeOf: TypeOf): DataType | undefined {
  if (precedenceOf(node) < precedence.sum) return 'LONG'; // It is a truth value.
  const operands = [node.first, ...node.rest.map(({ operand }) => operand)];
  if (operands.some(({ kind }) => kind === 'interval')) return typeOfMoved(operands, typeOf);
  const widest = widestNumber(operands.map(typeOf));
  const divides = node.rest.some(({ operator }) => operator === '/');
  return divides && widest === 'LONG' ? 'DECIMAL' : widest;
}

function typeOfCall({ name, args }: Call, typeOf: TypeOf): DataType | undefined {
  const result = entryOf(name)?.result ?? 'unknown';
  switch (result) {
    case 'unknown':
      return undefined;
    case 'first':
      return args.slice(0, 1).map(typeOf)[0];
    case 'common':
      return commonType(args.map(typeOf));
    case 'widest':
      return widestNumber(args.map(typeOf));
    case 'values':
      return commonType(args.slice(1).map(typeOf));
    case 'cast':
      return typeOfCast(args, typeOf);
    case 'moved':
      return typeOfMoved(args, typeOf);
    default:
      return result;
  }
}

/** The type of CAST(… AS type) and CONVERT(…, type), which is their last word. */
function typeOfCast(args: readonly Expression[], typeOf: TypeOf): DataType | undefined {
  const last = args.at(-1);
  const type = last?.kind === 'phrase' ? last.parts.at(-1) : last;
  return type && typeOf(type);
}

/** The type of a date that intervals move: DATETIME if it was one, or if an interval changes the time of day. */
function typeOfMoved(parts: readonly Expression[], typeOf: TypeOf): DataType {
  const hasClock = parts.some((part) =>
    part.kind === 'interval' ? CLOCK_UNITS.has(part.unit) : typeOf(part) === 'DATETIME',
  );
  return hasClock ? 'DATETIME' : 'DATE';
}

/**
 * The narrowest type that can hold values of all these types, for CASE and COALESCE. Unknown types are ignored;
 * undefined if all are unknown.
 */
function commonType(types: readonly (DataType | undefined)[]): DataType | undefined {
  const known = new Set(types.filter((type) => type !== undefined));
  if (known.size <= 1) return known.values().next().value;
  if (known.isSubsetOf(new Set(numbers))) return widestNumber([...known]);
  return known.isSubsetOf(new Set(dates)) ? 'DATETIME' : 'STRING';
}

/** The type of arithmetic with values of these types. A text counts as a DOUBLE, an unknown type as a DECIMAL. */
function widestNumber(types: readonly (DataType | undefined)[]): DataType {
  const numeric = new Set(types.map((type) => (type === undefined ? 'DECIMAL' : asNumber[type])));
  return numbers.findLast((number) => numeric.has(number)) ?? 'DECIMAL';
}

/** The number types, from the narrowest to the widest. */
const numbers: readonly DataType[] = ['LONG', 'DECIMAL', 'DOUBLE'];

const dates: readonly DataType[] = ['DATE', 'DATETIME'];

const asNumber: Readonly<Record<DataType, DataType>> = {
  STRING: 'DOUBLE',
  LONG: 'LONG',
  DECIMAL: 'DECIMAL',
  DOUBLE: 'DOUBLE',
  DATE: 'LONG',
  DATETIME: 'LONG',
};

/** The type of the values of a calculation or a column. A truth value is a LONG, a time of day is a STRING. */
export type DataType = 'STRING' | 'LONG' | 'DECIMAL' | 'DOUBLE' | 'DATE' | 'DATETIME';

/** Types of columns by name, without backticks. A column that is missing has an unknown type. */
export type ColumnTypes = ReadonlyMap<string, DataType>;

/**
 * A function of the language.
 *
 * - `kind`: a `window` function needs OVER; an `aggregate` may have OVER or FIXED; a `reference` refers to a
 *   calculation or a variable by its id and is not counted among the formula's functions.
 * - `isDocumented`: whether the platform documents it. Other functions are MySQL's, or were seen in real formulas;
 *   they are here for their types.
 * - `minArgs` and `maxArgs`: how many arguments it takes; `Infinity` for any number.
 * - `result`: the type of its value, or the rule that determines it.
 */
export type FunctionEntry = {
  readonly kind: 'scalar' | 'aggregate' | 'window' | 'reference';
  readonly minArgs: number;
  readonly maxArgs: number;
  readonly result:
    | DataType /**
     * The rule for a result's type. `first`: the type of the first argument. `common`: a type that can hold every
     * argument; `values`: every argument but the first. `widest`: the type of arithmetic with the arguments.
     * `moved`: a date moved by an interval, DATETIME if the time of day matters. `cast`: the type at the end of the
     * last argument. `unknown`: the formula alone does not determine it.
     */
    | 'first'
    | 'common'
    | 'values'
    | 'widest'
    | 'moved'
    | 'cast'
    | 'unknown';
  readonly isDocumented: boolean;
};

/** A group of similar functions: their names in upper case. */
type FunctionGroup = readonly [
  kind: FunctionEntry['kind'],
  minArgs: number,
  maxArgs: number,
  result: FunctionEntry['result'],
  names: string,
];

const any = Number.POSITIVE_INFINITY;

/**
 * The functions that the platform documents: minimum and maximum arguments, the result, and the names. (assumed)
 * Their arguments are MySQL's. A name that begins with `_` comes after the platform's prefix, so only its end is
 * known. There is no data type for a time of day, so it is a STRING.
 */
const documented: readonly FunctionGroup[] = [
  ['aggregate', 1, 1, 'DOUBLE', 'AVG STDDEV_POP VAR_POP'],
  ['aggregate', 1, 1, 'LONG', 'COUNT APPROXIMATE_COUNT_DISTINCT'],
  ['aggregate', 1, 1, 'first', 'MAX MIN'],
  ['aggregate', 1, 1, 'widest', 'SUM'],
  ['aggregate', 1, 1, 'STRING', 'HLL_SKETCH_MERGE HLL_SKETCH_MERGE_PARTIAL'],
  ['scalar', 1, 2, 'STRING', 'HLL_SKETCH_INIT'],
  ['scalar', 1, 1, 'LONG', 'HLL_SKETCH_EXTRACT'],
  ['window', 0, 0, 'LONG', 'RANK DENSE_RANK'],
  ['window', 1, 3, 'first', 'LAG LEAD'],
  ['reference', 1, 1, 'unknown', '_BEAST_MODE _VARIABLE'],

  ['scalar', 1, 1, 'first', 'ABS'],
  ['scalar', 1, 2, 'first', 'ROUND'],
  ['scalar', 2, 2, 'common', 'MOD'],
  ['scalar', 2, 2, 'DOUBLE', 'POWER'],
  ['scalar', 0, 1, 'DOUBLE', 'RAND'],
  ['scalar', 1, 1, 'LONG', 'CEILING FLOOR'],
  ['scalar', 2, any, 'widest', '_OP_ADD _OP_SUBTRACT _OP_MULTIPLY _OP_DIVIDE'],
  ['scalar', 2, 2, 'common', 'IFNULL'],
  ['scalar', 1, any, 'common', 'COALESCE'],
  ['scalar', 2, 2, 'first', 'NULLIF'],

  ['scalar', 1, any, 'STRING', 'CONCAT'],
  ['scalar', 2, 2, 'STRING', 'LEFT RIGHT'],
  ['scalar', 3, 3, 'STRING', 'REPLACE'],
  ['scalar', 2, 3, 'STRING', 'SUBSTRING'],
  ['scalar', 1, 1, 'STRING', 'LOWER TRIM UPPER'],
  ['scalar', 2, 2, 'LONG', 'INSTR'],
  ['scalar', 1, 1, 'LONG', 'LENGTH'],

  ['scalar', 0, 0, 'DATE', 'CURDATE CURRENT_DATE'],
  ['scalar', 0, 1, 'DATETIME', 'CURRENT_TIMESTAMP NOW SYSDATE'],
  ['scalar', 0, 1, 'STRING', 'CURRENT_TIME CURTIME'],
  ['scalar', 0, 1, 'LONG', 'UNIX_TIMESTAMP'],
  ['scalar', 2, 2, 'moved', 'ADDDATE DATE_ADD DATE_SUB SUBDATE'],
  ['scalar', 2, 2, 'first', 'ADDTIME SUBTIME'],
  ['scalar', 1, 1, 'DATE', 'DATE FROM_DAYS LAST_DAY'],
  ['scalar', 1, 2, 'DATETIME', 'FROM_UNIXTIME TIMESTAMP'],
  ['scalar', 2, 2, 'DATETIME', 'STR_TO_DATE'],
  ['scalar', 1, 1, 'STRING', 'DAYNAME MONTHNAME SEC_TO_TIME TIME'],
  ['scalar', 2, 2, 'STRING', 'DATE_FORMAT TIMEDIFF TIME_FORMAT'],
  ['scalar', 1, 1, 'LONG', 'DAY DAYOFMONTH DAYOFWEEK DAYOFYEAR HOUR MINUTE MONTH QUARTER SECOND'],
  ['scalar', 1, 1, 'LONG', 'TIME_TO_SEC TO_DAYS WEEKDAY WEEKOFYEAR YEAR'],
  ['scalar', 2, 2, 'LONG', 'DATEDIFF PERIOD_ADD PERIOD_DIFF'],
  ['scalar', 1, 2, 'LONG', 'WEEK YEARWEEK'],
];

/**
 * Functions of MySQL, and functions seen in real formulas, which the platform may not have. They are included
 * for their types.
 */
const undocumented: readonly FunctionGroup[] = [
  ['aggregate', 0, any, 'first', 'ANY_VALUE MEDIAN MODE PERCENTILE PERCENTILE_CONT PERCENTILE_DISC'],
  ['aggregate', 0, any, 'DOUBLE', 'CORR STD STDDEV STDDEV_SAMP VAR_SAMP VARIANCE'],
  ['aggregate', 0, any, 'LONG', 'APPROX_COUNT_DISTINCT BIT_AND BIT_OR BIT_XOR COUNT_DISTINCT'],
  ['aggregate', 0, any, 'STRING', 'GROUP_CONCAT LISTAGG STRING_AGG'],
  ['window', 0, any, 'first', 'FIRST_VALUE LAST_VALUE NTH_VALUE'],
  ['window', 0, any, 'LONG', 'NTILE ROW_NUMBER'],
  ['window', 0, any, 'DOUBLE', 'CUME_DIST PERCENT_RANK'],
  ['scalar', 0, any, 'values', 'IF IIF'],
  ['scalar', 0, any, 'common', 'GREATEST LEAST NVL'],
  ['scalar', 0, any, 'first', 'TRUNC TRUNCATE'],
  ['scalar', 0, any, 'cast', 'CAST CONVERT TRY_CAST'],
  ['scalar', 0, any, 'DOUBLE', 'ACOS ASIN ATAN COS DEGREES EXP LN LOG LOG10 LOG2'],
  ['scalar', 0, any, 'DOUBLE', 'PI POW RADIANS SIN SQRT TAN'],
  ['scalar', 0, any, 'LONG', 'ASCII CEIL CHAR_LENGTH EXTRACT FIELD FIND_IN_SET ISNULL LOCATE MICROSECOND'],
  ['scalar', 0, any, 'LONG', 'POSITION SIGN STRCMP TIMESTAMPDIFF TO_SECONDS'],
  ['scalar', 0, any, 'STRING', 'CONCAT_WS FORMAT INITCAP LCASE LPAD LTRIM MID REGEXP_REPLACE REGEXP_SUBSTR'],
  ['scalar', 0, any, 'STRING', 'REPEAT REVERSE RPAD RTRIM SPACE SPLIT_PART SUBSTR'],
  ['scalar', 0, any, 'STRING', 'SUBSTRING_INDEX TO_CHAR UCASE'],
  ['scalar', 0, any, 'DATETIME', 'CONVERT_TZ LOCALTIMESTAMP TIMESTAMPADD UTC_TIMESTAMP'],
  ['scalar', 0, any, 'DATE', 'MAKEDATE TO_DATE UTC_DATE'],
];

const entriesOf = (lines: readonly FunctionGroup[], isDocumented: boolean): [string, FunctionEntry][] =>
  lines.flatMap(([kind, minArgs, maxArgs, result, names]) =>
    names
      .split(' ')
      .map((name): [string, FunctionEntry] => [name, { kind, minArgs, maxArgs, result, isDocumented }]),
  );

const functions: ReadonlyMap<string, FunctionEntry> = new Map([
  ...entriesOf(documented, true),
  ...entriesOf(undocumented, false),
]);

/** The entry of a function, by its name in upper case; undefined if it is unknown. */
export function entryOf(name: string): FunctionEntry | undefined {
  return functions.get(name) ?? functions.get(PREFIXED.exec(name)?.[0] ?? '');
}

/** Matches names that begin with the platform's prefix, by their ends. */
const PREFIXED = /_(?:BEAST_MODE|VARIABLE|OP_(?:ADD|SUBTRACT|MULTIPLY|DIVIDE))$/;

/** The functions that the platform documents, by name, except those with its prefix. */
export const catalog: ReadonlyMap<string, FunctionEntry> = new Map(
  [...functions].filter(([name, { isDocumented }]) => isDocumented && !name.startsWith('_')),
);

/** The functions that may be written without parentheses. */
export const bareFunctions: readonly string[] = ['CURRENT_DATE', 'CURRENT_TIME', 'CURRENT_TIMESTAMP'];

/** The functions whose second argument may be an INTERVAL. */
export const INTERVAL_FUNCTIONS: ReadonlySet<string> = wordSet('ADDDATE DATE_ADD DATE_SUB SUBDATE');

/** The units of INTERVAL that move a date by whole days. Source: MySQL manual, "Temporal Intervals". */
export const DAY_UNITS: ReadonlySet<string> = wordSet('DAY WEEK MONTH QUARTER YEAR YEAR_MONTH');

/** The units of INTERVAL that change the time of day. Source: as above. */
export const CLOCK_UNITS: ReadonlySet<string> = wordSet(
  `MICROSECOND SECOND MINUTE HOUR SECOND_MICROSECOND MINUTE_MICROSECOND MINUTE_SECOND HOUR_MICROSECOND HOUR_SECOND
  HOUR_MINUTE DAY_MICROSECOND DAY_SECOND DAY_MINUTE DAY_HOUR`,
);

/** The functions whose first argument may be a part of a date, without quotes: `EXTRACT(YEAR FROM d)`. */
export const PART_FUNCTIONS: ReadonlySet<string> = wordSet(
  'DATEADD DATEDIFF DATENAME DATEPART DATE_PART DATE_TRUNC EXTRACT TIMESTAMPADD TIMESTAMPDIFF',
);

/** The parts of a date that are allowed in `PART_FUNCTIONS`, in upper case. */
export const PARTS_OF_DATES: ReadonlySet<string> = new Set([
  ...DAY_UNITS,
  ...CLOCK_UNITS,
  ...wordSet('DAYOFYEAR DOW DOY EPOCH ISOWEEK WEEKDAY'),
]);

/**
 * The type that a CAST to these words returns, or that precedes a text as in `DATE '2026-01-31'`; undefined
 * if it is unknown.
 */
function castTypeOf(text: string): DataType | undefined {
  return castTypes.find(([pattern]) => pattern.test(text))?.[1];
}

const castTypes: readonly (readonly [RegExp, DataType])[] = [
  [/^DATE$/, 'DATE'],
  [/^(?:DATETIME|TIMESTAMP)/, 'DATETIME'],
  [/^(?:UNSIGNED|SIGNED|LONG|\w*INT)\b|^INTEGER/, 'LONG'],
  [/^(?:DEC|NUM)/, 'DECIMAL'],
  [/^(?:DOUBLE|FLOAT|REAL)/, 'DOUBLE'],
  [/^(?:\w*CHAR|\w*TEXT|STRING|TIME\b)/, 'STRING'],
];

/** A set of words, from a string with white space between them. */
export function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.split(/\s+/));
}
