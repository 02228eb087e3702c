import { expect, test } from 'vitest';
import { renewModel } from '../../../lib/model/index.ts';
import { collectDigest, printDigest } from '../../../lib/report/digest/digest.ts';
import { digestSince } from '../../../lib/report/digest/since.ts';
import type { Run } from '../../../lib/snapshot/keys.ts';
import { link } from '../../model/stores.ts';
import { publishLines } from '../../snapshot/changes/publish-lines.ts';
import { createMemoryStore } from '../../store/memory-store.ts';

const runOf = (day: string): Run => ({
  id: `${day.replaceAll('-', '')}T090000Z-aaaaaa`,
  startedAt: `${day}T09:00:00.000Z`,
});
const broken = { links: [link('DATA_SOURCE', 'd', { valid: 'GONE' })] };

/** A store with one model for each day, with these numbers of unused and of broken calculations. */
async function storeOf(days: readonly (readonly [day: string, unused: number, broken: number])[]) {
  const store = createMemoryStore();
  for (const [day, unused, wrong] of days) {
    const lines = Array.from({ length: unused }, (_, at) => ({ id: at + 1, ...(at < wrong ? broken : {}) }));
    await publishLines(store, { run: runOf(day), lines: lines.map((each) => JSON.stringify(each)) });
    await renewModel({ store, now: Date.now });
  }
  return store;
}

const lineOf = (text: string) => text.split('\n').find((line) => line.startsWith('Clean-up'));

test.each([
  [[['2026-11-20', 2, 0]], 'Clean-up: unused: 2'],
  [
    [
      ['2026-11-20', 2, 0],
      ['2026-11-21', 3, 0],
    ],
    'Clean-up: unused: 3, 1 more than 1 day ago',
  ],
  [
    [
      ['2026-11-10', 2, 1],
      ['2026-11-19', 4, 0],
    ],
    'Clean-up: unused: 4, 2 more than 9 days ago; broken links: 0, 1 fewer than 9 days ago',
  ],
  [
    [
      ['2026-09-01', 9, 0],
      ['2026-10-20', 5, 0],
      ['2026-11-01', 3, 0],
      ['2026-11-19', 2, 0],
    ],
    'Clean-up: unused: 2, 3 fewer than 30 days ago',
  ],
] as const)('the digest describes the progress of clean-up correctly: %j', async (days, expected) => {
  const store = await storeOf(days);
  const last = runOf(days.at(-1)?.[0] ?? '');

  const digest = await collectDigest({ store, place: 'calculations', run: last.id });
  const command = await digestSince({
    ...{ store, sinceMs: Date.parse(last.startedAt) - 3_600_000, addFault: () => undefined },
    signal: new AbortController().signal,
  });

  expect(lineOf(printDigest(digest, { location: 'memory', hasReport: false }).text)).toBe(expected);
  expect(lineOf(command.text)).toBe(expected);
});

test('a count that has not changed is reported as equal to the previous one', async () => {
  const store = await storeOf([
    ['2026-11-20', 2, 0],
    ['2026-11-21', 2, 0],
  ]);

  const digest = await collectDigest({ store, place: 'calculations', run: runOf('2026-11-21').id });

  const { text } = printDigest(digest, { location: 'memory', hasReport: false });
  expect(lineOf(text)).toBe('Clean-up: unused: 2, as many as 1 day ago');
});

test('a digest of files has no line about clean-up', async () => {
  const store = await storeOf([['2026-11-20', 2, 0]]);
  await publishLines(store, { place: 'files', run: runOf('2026-11-21'), lines: ['{"id":"f"}'] });

  const digest = await collectDigest({ store, place: 'files', run: runOf('2026-11-21').id });

  expect(lineOf(printDigest(digest, { location: 'memory', hasReport: false }).text)).toBeUndefined();
});
