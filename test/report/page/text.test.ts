import { describe, expect, test } from 'vitest';
import {
  age,
  bytes,
  count,
  counted,
  day,
  duration,
  share,
  time,
} from '../../../lib/report/page/text/numbers.ts';
import { readable, shortened } from '../../../lib/report/page/text/shown.ts';

describe('a string from the platform', () => {
  test('is shown with its invisible characters replaced', () => {
    expect(readable('a\u0000b\u001B[31m\u007F\u0085')).toBe('a␀b␛[31m␡\uFFFD');
  });

  test('is shown without characters that reverse the letters', () => {
    expect(readable('\u202Egpj.exe')).toBe('[U+202E]gpj.exe');
  });

  test('is otherwise shown unchanged', () => {
    expect(readable('<b>&amp; مبيعات 👩‍👩‍👧')).toBe('<b>&amp; مبيعات 👩‍👩‍👧');
  });

  test('is shortened between characters', () => {
    expect(shortened('abcdef', 6)).toBe('abcdef');
    expect(shortened('abcdefg', 6)).toBe('abcde…');
    expect(shortened('👍👍👍', 3)).toBe('👍👍👍');
    expect(shortened('👍👍👍👍', 3)).toBe('👍👍…');
  });
});

test.each([
  [count(1_234_567), '1,234,567'],
  [counted(1, 'card'), '1 card'],
  [counted(2_000, 'card'), '2,000 cards'],
  [share(1, 3), '33.3%'],
  [share(0, 0), '–'],
  [bytes(0), '0 bytes'],
  [bytes(999), '999 bytes'],
  [bytes(12_345), '12.3 kB'],
  [bytes(734_000_000_000), '734 GB'],
  [time(Date.UTC(2026, 10, 22, 21, 4)), '2026-11-22 21:04 UTC'],
  [time(null), '–'],
  [time(9e15), '–'],
  [day(Date.UTC(2026, 10, 22)), '2026-11-22'],
  [duration(0), '0 ms'],
  [duration(61_000), '1 min 1 s'],
  [duration(3_600_000), '1 h'],
  [duration(90_000_000), '1 d 1 h'],
  [age(0, 60_000), '1 minute'],
  [age(0, 7_200_000), '2 hours'],
  [age(0, 5 * 86_400_000), '5 days'],
  [age(5, 0), 'less than a minute'],
])('numbers, dates and durations are printed for people: %s', (printed, expected) => {
  expect(printed).toBe(expected);
});
