/** One of the six fields of a cron expression: what it may contain. */
export type CronField = {
  readonly name: string;
  readonly expected: string;
  readonly least: number;
  readonly most: number;
  /** The names of the numbers, starting at `least`. */
  readonly names?: readonly string[];
  readonly digits: RegExp;
  /** The largest step after `/`; none if steps are not allowed. */
  readonly largestStep?: number;
  /** Whether a text is allowed instead of a list, besides what all fields allow. */
  readonly special?: (text: string, isValue: (text: string) => boolean) => boolean;
};

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'] as const;
const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'] as const;
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
    expected: '0 to 59 with , - * /',
    least: 0,
    most: 59,
    digits: ONE_OR_TWO,
    largestStep: 59,
  },
  { name: 'hour', expected: '0 to 23 with , - * /', least: 0, most: 23, digits: ONE_OR_TWO, largestStep: 23 },
  {
    name: 'day of the month',
    expected: '1 to 31 with , - * /, or ?, L, LW or a day with W',
    least: 1,
    most: 31,
    digits: ONE_OR_TWO,
    largestStep: 31,
    special: (text, isDay) =>
      ['?', 'L', 'LW'].includes(text) || (text.endsWith('W') && isDay(text.slice(0, -1))),
  },
  {
    name: 'month',
    expected: '1 to 12 or JAN to DEC with , - * /',
    least: 1,
    most: 12,
    names: MONTHS,
    digits: ONE_OR_TWO,
    largestStep: 12,
  },
  {
    name: 'day of the week',
    expected: '1 to 7 or SUN to SAT with , - *, or ?, L, a day with L, or a day with # and 1 to 5',
    least: 1,
    most: 7,
    names: WEEKDAYS,
    digits: /^\d$/,
    special: (text, isDay) => ['?', 'L'].includes(text) || isDay(/^(.+)(?:L|#[1-5])$/.exec(text)?.[1] ?? ''),
  },
  {
    name: 'year',
    expected: '1970 to 2199 with , - * /',
    least: 1970,
    most: 2199,
    digits: /^\d{4}$/,
    largestStep: 229,
  },
];

export const EXPECTED_CRON =
  'a cron expression of six fields, such as 0 2 * * ? *, with ? for one of the two days';

/** The faults that EventBridge Scheduler would find in the expression within `cron(…)`, each as what was expected. */
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

/**
 * Whether a text is a value, a range, or a step through all values or a range. A range may pass the end and
 * continue at the start (FRI-MON).
 */
function isItem(field: CronField, item: string): boolean {
  const [, range = '', step] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(item) ?? [];
  const { largestStep = 0 } = field;
  if (step !== undefined && (Number(step) < 1 || Number(step) > largestStep)) return false;
  if (range === '*') return step !== undefined;
  const ends = range.split('-');
  return ends.length <= 2 && ends.every((end) => isValueOf(field, end));
}

function isValueOf({ least, most, names = [], digits }: CronField, text: string): boolean {
  const value = Number(text);
  return names.includes(text) || (digits.test(text) && value >= least && value <= most);
}
