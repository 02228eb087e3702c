import { describe, expect, test } from 'vitest';
import { createProgress } from '../../lib/cli/terminal/progress.ts';
import type { SnapshotProgress } from '../../lib/snapshot/run/take-run.ts';
import { createFakeScreen } from './fake-screen.ts';

type ProgressOptions = Parameters<typeof createProgress>[1];

const calls = { requests: 1_234, retries: 0, throttled: 0, waitedMs: 0 };

/** A progress over a clock that the test moves. */
function start(options: Partial<ProgressOptions> & { readonly name?: string } = {}) {
  const lines: string[] = [];
  let nowMs = 0;
  let act = () => {};
  let everyMs = 0;
  let isTicking = true;
  const progress = createProgress(options.name ?? 'files', {
    screen: undefined,
    err: (line) => void lines.push(line),
    callCounts: () => calls,
    now: () => nowMs,
    every(ms, tick) {
      [everyMs, act] = [ms, tick];
      return {
        [Symbol.dispose]: () => {
          isTicking = false;
        },
      };
    },
    ...options,
  });
  return {
    ...progress,
    lines,
    isTicking: () => isTicking,
    /** Updates the progress to `done`, moves the clock, and fires the timer as often as is due. */
    pass(ms: number, done: SnapshotProgress) {
      progress.update(done);
      const ticks = Math.floor((nowMs + ms) / everyMs) - Math.floor(nowMs / everyMs);
      nowMs += ms;
      for (let tick = 0; tick < ticks; tick += 1) act();
    },
  };
}

describe('without a terminal', () => {
  test('progress prints a line each half minute, however many updates there were, even without any', () => {
    const { pass, lines } = start();

    pass(29_999, { records: 3, total: null });
    expect(lines).toEqual([]);
    pass(1, { records: 4, total: null });
    pass(1_000, { records: 5, total: null });
    pass(28_000, { records: 6, total: null });
    pass(1_000, { records: 7, total: null });
    pass(30_000, { records: 7, total: null });

    expect(lines.map((line) => /(\d+) records/.exec(line)?.[1])).toEqual(['4', '7', '7']);
  });

  test.each<[SnapshotProgress, Partial<ProgressOptions>, string]>([
    [
      { records: 8_000, total: 20_000 },
      {},
      'files: 40%, 45 s left, 267 a second, 8,000 of about 20,000 records, 1,234 requests',
    ],
    [
      { records: 10_300, total: 11_000 },
      { recordsBefore: 10_000 },
      'files: 93%, 70 s left, 10 a second, 10,300 of about 11,000 records, 1,234 requests',
    ],
    [
      { records: 50, total: null },
      { callCounts: () => ({ ...calls, throttled: 7 }) },
      'files: 1.7 a second, 50 records, 1,234 requests, 7 throttled',
    ],
    [
      { records: 15, total: null, share: 2 / 400 },
      {},
      'files: 0%, 100 min left, 0.5 a second, 15 records, 1,234 requests',
    ],
    [{ records: 0, total: 20 }, {}, 'files: 0%, 0 a second, 0 of about 20 records, 1,234 requests'],
  ])('progress of %j with %j prints what is known', (done, options, line) => {
    const { pass, lines } = start(options);

    pass(30_000, done);

    expect(lines).toEqual([line]);
  });

  test('progress of work of unknown size shows neither a percentage nor a time, and no line twice', () => {
    const { pass, lines } = start({ name: 'work', nouns: ['jobs', 'calls'], isEndless: true });

    pass(30_000, { records: 3, total: 9 });
    pass(60_000, { records: 3, total: 9 });
    pass(30_000, { records: 4, total: 9 });

    expect(lines).toEqual(['work: 3 of about 9 jobs, 1,234 calls', 'work: 4 of about 9 jobs, 1,234 calls']);
  });

  test('progress of a short run prints nothing, and its timer ends', () => {
    const { pass, lines, end, isTicking } = start();

    pass(2_000, { records: 200, total: 200 });
    end();

    expect(lines).toEqual([]);
    expect(isTicking()).toBe(false);
  });
});

describe('percentages', () => {
  const percentOf = (done: SnapshotProgress) => {
    const { pass, lines } = start({ name: 'cards' });
    pass(30_000, done);
    return /\d+%/.exec(lines[0] ?? '')?.[0];
  };

  test.each<[string | undefined, SnapshotProgress]>([
    ['0%', { records: 15, total: null, share: 2 / 400 }],
    ['49%', { records: 1_480, total: null, share: 197 / 400 }],
    ['99%', { records: 3_000, total: null, share: 1 }],
    [undefined, { records: 15, total: null }],
    ['0%', { records: 0, total: 3_000 }],
    ['99%', { records: 19_999, total: 20_000 }],
    ['99%', { records: 30, total: 20 }],
    ['99%', { records: 0, total: 0 }],
    ['50%', { records: 0, total: 2, share: 0.5 }],
  ])('are printed as %s for %j', (percent, done) => {
    expect(percentOf(done)).toBe(percent);
  });
});

describe('on a terminal', () => {
  const drawnAt = (columns: number, done: SnapshotProgress) => {
    const { screen, line } = createFakeScreen(columns);
    const progress = start({ screen, name: 'cards' });
    progress.pass(10_000, done);
    return line();
  };

  test.each([
    [10, 'cards: 49%'],
    [40, 'cards: 49%, 11 s left, 148 a second'],
    [80, 'cards: 49%, 11 s left, 148 a second, 1,480 records, 1,234 requests'],
  ])(
    'progress in %i columns shows what fits: first the percentage, then the time left and the rate',
    (columns, expected) => {
      expect(drawnAt(columns + 1, { records: 1_480, total: null, share: 0.49 })).toBe(expected);
    },
  );

  test.each([
    [6_000, '50 s left'],
    [31_000, '5 min left'],
    [6_001_000, '16.7 h left'],
  ])('the time left for %d records is rounded to what matters', (total, expected) => {
    expect(drawnAt(200, { records: 1_000, total })).toContain(expected);
  });

  test('progress shows the start and the publishing, and removes its line at the end', () => {
    const { screen, line } = createFakeScreen(80);
    const { pass, publishing, end, isTicking } = start({ screen });

    expect(line()).toBe('files: starting');
    pass(400, { records: 2_000, total: 2_000 });
    publishing();
    expect(line()).toBe('files: publishing');
    end();
    expect(line()).toBe('');
    expect(isTicking()).toBe(false);
  });

  test('rate and time left change even while nothing is received', () => {
    const { screen, line } = createFakeScreen(80);
    const { pass } = start({ screen });

    pass(1_000, { records: 500, total: 1_000 });
    pass(9_000, { records: 500, total: 1_000 });

    expect(line()).toContain('10 s left, 50 a second');
  });
});
