import * as fc from 'fast-check';

const number = (least: number, most: number) => fc.integer({ min: least, max: most }).map(String);

const padded = (value: fc.Arbitrary<string>) =>
  fc.oneof(
    { arbitrary: value, weight: 5 },
    value.map((each) => each.padStart(2, '0')),
  );

function names(...each: readonly string[]): fc.Arbitrary<string> {
  const upper = fc.constantFrom(...each);
  return fc.oneof(
    { arbitrary: upper, weight: 4 },
    upper.map((name) => name.toLowerCase()),
  );
}

const months = names('JAN', 'MAR', 'DEC');
const weekdays = names('SUN', 'MON', 'FRI', 'SAT');

/** Values that no field accepts, or only another field. */
const wrong = fc.constantFrom(
  '',
  ...', - / /5 */0 ** 60 99 0 W LW 32W L ? 2#6 6#3 XYZ FOO 1969 2200 1, 1- 1.5 005 *,1 # 2# FRIL'.split(' '),
);

/** A list of values, ranges and steps of a field. */
function listOf(value: fc.Arbitrary<string>, largestStep?: number): fc.Arbitrary<string> {
  const range = fc.tuple(value, value).map((ends) => ends.join('-'));
  const item = fc.oneof({ arbitrary: value, weight: 3 }, range);
  const step =
    largestStep === undefined
      ? []
      : [fc.tuple(fc.oneof(item, fc.constant('*')), number(1, largestStep)).map((parts) => parts.join('/'))];
  return fc.oneof(
    { arbitrary: fc.constant('*'), weight: 2 },
    fc
      .array(fc.oneof({ arbitrary: item, weight: 2 }, ...step), { minLength: 1, maxLength: 3 })
      .map((items) => items.join(',')),
  );
}

const mostly = (value: fc.Arbitrary<string>) => fc.oneof({ arbitrary: value, weight: 12 }, wrong);

const day = padded(number(1, 31));
const daysOfMonth = fc.oneof(
  { arbitrary: listOf(day, 31), weight: 4 },
  fc.constantFrom('L', 'LW'),
  day.map((each) => `${each}W`),
);
const weekday = fc.oneof(number(1, 7), weekdays);
const daysOfWeek = fc.oneof(
  { arbitrary: listOf(weekday), weight: 4 },
  fc.constant('L'),
  weekday.map((each) => `${each}L`),
  fc.tuple(weekday, number(1, 5)).map((parts) => parts.join('#')),
);

/** Day of month and day of week. In most cases one of the two is `?`. */
const days = fc.oneof(
  { arbitrary: fc.tuple(mostly(daysOfMonth), fc.constant('?')), weight: 10 },
  { arbitrary: fc.tuple(fc.constant('?'), mostly(daysOfWeek)), weight: 10 },
  fc.tuple(daysOfMonth, daysOfWeek),
);

/** The text within `cron(…)`. About half of these texts are valid. */
export const arbitraryCron: fc.Arbitrary<string> = fc
  .record({
    minute: mostly(listOf(padded(number(0, 59)), 59)),
    hour: mostly(listOf(padded(number(0, 23)), 23)),
    days,
    month: mostly(listOf(fc.oneof(padded(number(1, 12)), months), 12)),
    year: mostly(listOf(number(1970, 2199), 229)),
    blank: fc.oneof({ arbitrary: fc.constant(' '), weight: 30 }, fc.constant('  ')),
  })
  .map(({ minute, hour, days: [dayOfMonth, dayOfWeek], month, year, blank }) =>
    [minute, hour, dayOfMonth, month, dayOfWeek, year].join(blank),
  );
