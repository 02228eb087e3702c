import type { DataType } from './data-type.ts';

/**
 * A function of the language.
 *
 * - `kind`: a `window` function needs OVER; an `aggregate` may have OVER or FIXED; a `reference` names a calculation
 *   or a variable by its id and is not counted among the formula's functions.
 * - `least` and `most`: how many arguments it takes, `Infinity` for any number.
 * - `result`: the type of its value, or the rule that determines it (see `ResultRule`).
 */
export type FunctionEntry = {
  readonly kind: 'scalar' | 'aggregate' | 'window' | 'reference';
  readonly least: number;
  readonly most: number;
  readonly result: DataType | ResultRule;
};

/**
 * `first`: the first argument's type. `common`: one that can hold every argument. `total`: DOUBLE for DOUBLE,
 * otherwise DECIMAL. `moved`: a date moved by an interval, DATETIME if the time of day matters. `unknown`: the
 * formula alone does not determine it.
 */
type ResultRule = 'first' | 'common' | 'total' | 'moved' | 'unknown';

const any = Number.POSITIVE_INFINITY;

const entry =
  (kind: FunctionEntry['kind']) =>
  (least: number, most: number, result: FunctionEntry['result']): FunctionEntry => ({
    kind,
    least,
    most,
    result,
  });

const aggregate = entry('aggregate');
const window = entry('window');
const scalar = entry('scalar');
const reference = entry('reference');

/** All functions, by upper-case name. Any other is unknown, such as SQRT, IF and CONVERT_TZ. */
export const catalog: ReadonlyMap<string, FunctionEntry> = new Map([
  ['AVG', aggregate(1, 1, 'total')],
  ['COUNT', aggregate(1, 1, 'LONG')],
  ['MAX', aggregate(1, 1, 'first')],
  ['MIN', aggregate(1, 1, 'first')],
  ['SUM', aggregate(1, 1, 'total')],
  ['STDDEV_POP', aggregate(1, 1, 'DOUBLE')],
  ['VAR_POP', aggregate(1, 1, 'DOUBLE')],
  ['APPROXIMATE_COUNT_DISTINCT', aggregate(1, 1, 'LONG')],

  ['RANK', window(0, 0, 'LONG')],
  ['DENSE_RANK', window(0, 0, 'LONG')],
  ['LAG', window(1, 3, 'first')],
  ['LEAD', window(1, 3, 'first')],

  ['ABS', scalar(1, 1, 'first')],
  ['MOD', scalar(2, 2, 'common')],
  ['POWER', scalar(2, 2, 'DOUBLE')],
  ['RAND', scalar(0, 1, 'DOUBLE')],
  ['ROUND', scalar(1, 2, 'first')],
  ['CEILING', scalar(1, 1, 'LONG')],
  ['FLOOR', scalar(1, 1, 'LONG')],

  ['IFNULL', scalar(2, 2, 'common')],
  ['NULLIF', scalar(2, 2, 'first')],
  ['COALESCE', scalar(1, any, 'common')],

  ['CONCAT', scalar(1, any, 'STRING')],
  ['INSTR', scalar(2, 2, 'LONG')],
  ['LEFT', scalar(2, 2, 'STRING')],
  ['LENGTH', scalar(1, 1, 'LONG')],
  ['LOWER', scalar(1, 1, 'STRING')],
  ['REPLACE', scalar(3, 3, 'STRING')],
  ['RIGHT', scalar(2, 2, 'STRING')],
  ['SUBSTRING', scalar(2, 3, 'STRING')],
  ['TRIM', scalar(1, 1, 'STRING')],
  ['UPPER', scalar(1, 1, 'STRING')],

  // There is no data type for a time of day: it is a STRING.
  ['ADDDATE', scalar(2, 2, 'moved')],
  ['ADDTIME', scalar(2, 2, 'first')],
  ['CURDATE', scalar(0, 0, 'DATE')],
  ['CURTIME', scalar(0, 1, 'STRING')],
  ['CURRENT_DATE', scalar(0, 0, 'DATE')],
  ['CURRENT_TIME', scalar(0, 1, 'STRING')],
  ['CURRENT_TIMESTAMP', scalar(0, 1, 'DATETIME')],
  ['DATE', scalar(1, 1, 'DATE')],
  ['DATEDIFF', scalar(2, 2, 'LONG')],
  ['DATE_ADD', scalar(2, 2, 'moved')],
  ['DATE_FORMAT', scalar(2, 2, 'STRING')],
  ['DATE_SUB', scalar(2, 2, 'moved')],
  ['DAY', scalar(1, 1, 'LONG')],
  ['DAYNAME', scalar(1, 1, 'STRING')],
  ['DAYOFMONTH', scalar(1, 1, 'LONG')],
  ['DAYOFWEEK', scalar(1, 1, 'LONG')],
  ['DAYOFYEAR', scalar(1, 1, 'LONG')],
  ['FROM_DAYS', scalar(1, 1, 'DATE')],
  ['FROM_UNIXTIME', scalar(1, 2, 'DATETIME')],
  ['HOUR', scalar(1, 1, 'LONG')],
  ['LAST_DAY', scalar(1, 1, 'DATE')],
  ['MINUTE', scalar(1, 1, 'LONG')],
  ['MONTH', scalar(1, 1, 'LONG')],
  ['MONTHNAME', scalar(1, 1, 'STRING')],
  ['NOW', scalar(0, 1, 'DATETIME')],
  ['PERIOD_ADD', scalar(2, 2, 'LONG')],
  ['PERIOD_DIFF', scalar(2, 2, 'LONG')],
  ['QUARTER', scalar(1, 1, 'LONG')],
  ['SECOND', scalar(1, 1, 'LONG')],
  ['SEC_TO_TIME', scalar(1, 1, 'STRING')],
  ['STR_TO_DATE', scalar(2, 2, 'DATETIME')],
  ['SUBDATE', scalar(2, 2, 'moved')],
  ['SUBTIME', scalar(2, 2, 'first')],
  ['SYSDATE', scalar(0, 1, 'DATETIME')],
  ['TIME', scalar(1, 1, 'STRING')],
  ['TIMEDIFF', scalar(2, 2, 'STRING')],
  ['TIMESTAMP', scalar(1, 2, 'DATETIME')],
  ['TIME_FORMAT', scalar(2, 2, 'STRING')],
  ['TIME_TO_SEC', scalar(1, 1, 'LONG')],
  ['TO_DAYS', scalar(1, 1, 'LONG')],
  ['UNIX_TIMESTAMP', scalar(0, 1, 'LONG')],
  ['WEEK', scalar(1, 2, 'LONG')],
  ['YEAR', scalar(1, 1, 'LONG')],
  ['YEARWEEK', scalar(1, 2, 'LONG')],

  ['CALCULATION', reference(1, 1, 'unknown')],
  ['VARIABLE', reference(1, 1, 'unknown')],
]);

/**
 * What the functions of kind `reference` refer to. (assumed) The notes say that a calculation or a variable is
 * referenced by its numeric id inside a function call, but not which function: the two names are our own choice.
 */
export const referenceKinds: ReadonlyMap<string, 'calculation' | 'variable'> = new Map([
  ['CALCULATION', 'calculation'],
  ['VARIABLE', 'variable'],
]);

/** The functions that may be written without parentheses. */
export const bareFunctions: readonly string[] = ['CURRENT_DATE', 'CURRENT_TIME', 'CURRENT_TIMESTAMP'];

/** The aggregates that take DISTINCT. */
export const DISTINCT_FUNCTIONS: ReadonlySet<string> = new Set(['COUNT', 'SUM']);

/** The functions whose second argument may be an INTERVAL. */
export const INTERVAL_FUNCTIONS: ReadonlySet<string> = new Set([
  'ADDDATE',
  'DATE_ADD',
  'DATE_SUB',
  'SUBDATE',
]);

/** The units of INTERVAL that move a date by whole days. Source: MySQL manual, "Temporal Intervals". */
export const DAY_UNITS: ReadonlySet<string> = new Set([
  'DAY',
  'WEEK',
  'MONTH',
  'QUARTER',
  'YEAR',
  'YEAR_MONTH',
]);

/** The units of INTERVAL that change the time of day. Source: as above. */
export const CLOCK_UNITS: ReadonlySet<string> = new Set([
  'MICROSECOND',
  'SECOND',
  'MINUTE',
  'HOUR',
  'SECOND_MICROSECOND',
  'MINUTE_MICROSECOND',
  'MINUTE_SECOND',
  'HOUR_MICROSECOND',
  'HOUR_SECOND',
  'HOUR_MINUTE',
  'DAY_MICROSECOND',
  'DAY_SECOND',
  'DAY_MINUTE',
  'DAY_HOUR',
]);
