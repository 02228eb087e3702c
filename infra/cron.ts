/** One of the six fields of a cron expression, and the values that it may have. */
export type CronField = {
  readonly name: string;
  readonly expected: string;
  readonly min: number;
  readonly max: number;
  /** The names of the numbers, starting at `min`. */
  readonly names?: readonly string[];
  readonly digits: RegExp;
  /** The maximum step after `/`. Absent: steps are not allowed. */
  readonly maxStep?: number;
  /** Whether the field may have this text instead of a list. `isValue` checks a single value. */
  readonly special?: (text: string, isValue: (text: string) => boolean) => boolean;
};

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'] as const;
const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'] as const;
const STEPS = '(lists with ",", ranges with "-", steps with "/" and "*" are allowed)';
const ONE_OR_TWO = /^\d{1,2}$/;

/** Source: "Schedule types" in EventBridge Scheduler's user guide. Its parser limits steps as Quartz does. */
export const cronFields: readonly [
  minute: CronField,
  hour: CronField,
  dayOfMonth: CronField,
  month: CronField,
  dayOfWeek: CronField,
  year: CronField,
] = [
  {
    name: 'minute',
    expected: `0 to 59 ${STEPS}`,
    min: 0,
    max: 59,
    digits: ONE_OR_TWO,
    maxStep: 59,
  },
  { name: 'hour', expected: `0 to 23 ${STEPS}`, min: 0, max: 23, digits: ONE_OR_TWO, maxStep: 23 },
  {
    name: 'day of the month',
    expected: `1 to 31 ${STEPS}, or "?", "L", "LW" or a day followed by W, such as 15W`,
    min: 1,
    max: 31,
    digits: ONE_OR_TWO,
    maxStep: 31,
    special: (text, isDay) =>
      ['?', 'L', 'LW'].includes(text) || (text.endsWith('W') && isDay(text.slice(0, -1))),
  },
  {
    name: 'month',
    expected: `1 to 12 or JAN to DEC ${STEPS}`,
    min: 1,
    max: 12,
    names: MONTHS,
    digits: ONE_OR_TWO,
    maxStep: 12,
  },
  {
    name: 'day of the week',
    expected:
      '1 to 7 or SUN to SAT (lists with ",", ranges with "-" and "*" are allowed), or "?", "L", a day followed by L, such as 6L, or a day followed by # and 1 to 5, such as 6#2',
    min: 1,
    max: 7,
    names: WEEKDAYS,
    digits: /^\d$/,
    special: (text, isDay) => ['?', 'L'].includes(text) || isDay(/^(.+)(?:L|#[1-5])$/.exec(text)?.[1] ?? ''),
  },
  {
    name: 'year',
    expected: `1970 to 2199 ${STEPS}`,
    min: 1970,
    max: 2199,
    digits: /^\d{4}$/,
    maxStep: 229,
  },
];

/** What was expected if an expression does not have the form of a cron expression. */
export const EXPECTED_CRON =
  'a cron expression of six fields, such as 0 2 * * ? *, with ? for one of the two days';

/** The faults that EventBridge Scheduler would find in `cron(EXPRESSION)`, each as what was expected. */
export function cronFaults(expression: string): readonly string[] {
  const texts = expression.split(' ');
  const [, , dayOfMonth, , dayOfWeek] = texts;
  if (texts.length !== cronFields.length || (dayOfMonth === '?') === (dayOfWeek === '?'))
    return [EXPECTED_CRON];
  return cronFields.flatMap((field, index) => {
    const text = texts[index] ?? '';
    return isField(field, text)
      ? []
      : [`a cron expression whose ${field.name} is ${field.expected}, not ${JSON.stringify(text)}`];
  });
}

function isField(field: CronField, text: string): boolean {
  const upper = text.toUpperCase();
  const isValue = (each: string) => isValueOf(field, each);
  return (
    upper === '*' ||
    field.special?.(text, (each) => isValue(each.toUpperCase())) === true ||
    upper.split(',').every((item) => isItem(field, item))
  );
}

/** Whether `item` is a value, a range, or steps through all values or a range. A range may pass the end (FRI-MON). */
function isItem(field: CronField, item: string): boolean {
  const [, range = '', step] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(item) ?? [];
  const { maxStep = 0 } = field;
  if (step !== undefined && (Number(step) < 1 || Number(step) > maxStep)) return false;
  if (range === '*') return step !== undefined;
  const ends = range.split('-');
  return ends.length <= 2 && ends.every((end) => isValueOf(field, end));
}

function isValueOf({ min, max, names = [], digits }: CronField, text: string): boolean {
  const value = Number(text);
  return names.includes(text) || (digits.test(text) && value >= min && value <= max);
}
