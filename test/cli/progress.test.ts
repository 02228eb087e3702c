import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { createProgress, describeProgress } from '../../lib/cli/progress.ts';

const calls = { requests: 1_234, retries: 0, throttled: 0, waitedMs: 0 };

describe('off a terminal', () => {
  const startPlain = (recordsBefore?: number) => {
    const clock = { ms: 0 };
    const lines: string[] = [];
    const progress = createProgress('files', {
      screen: undefined,
      err: (line) => void lines.push(line),
      callCounts: () => calls,
      now: () => clock.ms,
      ...(recordsBefore === undefined ? {} : { recordsBefore }),
    });
    const at = (ms: number, records: number, total: number | null = null) => {
      clock.ms = ms;
      progress.update({ records, total });
    };
    return { at, lines, end: progress.end };
  };

  test('a line is printed at most every 3 seconds, however often there is an update', () => {
    const { at, lines } = startPlain();

    at(100, 1);
    at(2_999, 2);
    at(3_000, 3);
    at(5_999, 4);
    at(9_000, 5);
    at(11_999, 6);

    expect(lines.map((line) => line.split(' records')[0])).toEqual(['files: 3', 'files: 5']);
  });

  test('a line shows records, requests, rate and the time left', () => {
    const { at, lines } = startPlain();

    at(4_000, 8_000, 20_000);

    expect(lines).toEqual(['files: 8,000 of about 20,000 records, 1,234 requests, 2,000 a second, 6 s left']);
  });

  test('the rate of a resumed run counts only what has been read since', () => {
    const { at, lines } = startPlain(10_000);

    at(4_000, 10_400, 11_000);

    expect(lines).toEqual(['files: 10,400 of about 11,000 records, 1,234 requests, 100 a second, 6 s left']);
  });

  test('a run that ends sooner prints nothing', () => {
    const { at, lines, end } = startPlain();

    at(2_000, 200, 200);
    end();

    expect(lines).toEqual([]);
  });
});

describe('in words', () => {
  const pace = { elapsedMs: 10_000, recordsBefore: 0 };

  test('an unknown total is left out, and so is the time left', () => {
    expect(describeProgress({ records: 50, total: null }, calls, pace)).toBe(
      '50 records, 1,234 requests, 5 a second',
    );
  });

  test('throttled requests are shown if there are any', () => {
    expect(describeProgress({ records: 50, total: null }, { ...calls, throttled: 7 }, pace)).toBe(
      '50 records, 1,234 requests, 5 a second, 7 throttled',
    );
  });

  test.each([
    [6_000, '50 s left'],
    [31_000, '5 min left'],
    [6_001_000, '16.7 h left'],
  ])('at 100 a second, the time left of %d records is rounded to what matters: %s', (total, expected) => {
    expect(describeProgress({ records: 1_000, total }, calls, pace)).toContain(expected);
  });

  test('more records than the total leave no time, and no elapsed time gives no infinite rate', () => {
    expect(describeProgress({ records: 30, total: 20 }, calls, pace)).toBe(
      '30 of about 20 records, 1,234 requests, 3 a second',
    );
    expect(describeProgress({ records: 0, total: 0 }, calls, { elapsedMs: 0, recordsBefore: 0 })).toBe(
      '0 of about 0 records, 1,234 requests, 0 a second',
    );
  });
});

test('on a terminal a bar is drawn, and taken off the screen at the end', () => {
  const screen = Object.assign(new PassThrough(), { isTTY: true, columns: 200 });
  const progress = createProgress('cards', {
    screen: screen as unknown as NodeJS.WriteStream,
    err: () => undefined,
    callCounts: () => calls,
    now: () => 0,
  });

  progress.update({ records: 30, total: 60 });
  progress.end();

  const drawn = String(screen.read());
  expect(drawn).toContain('cards');
  expect(drawn).toContain('50% | 30 of about 60 records');
  // Show the cursor again.
  expect(drawn).toContain('\u001b[?25h');
});
