import { describe, expect, test } from 'vitest';
import { emptyBatch } from '../../../../lib/snapshot/page/record-batch.ts';
import type { FilesetResult } from '../../../../lib/snapshot/sources/files/fileset-read.ts';
import { judgeRead } from '../../../../lib/snapshot/sources/files/judge-read.ts';
import type { ReadEnd } from '../../../../lib/snapshot/sources/rereading.ts';

const batch = { ...emptyBatch };

/** A read of 9 files in 3 pages, all of them reported and created long ago. */
const read: FilesetResult = {
  totals: { start: 9, end: 9 },
  repeats: 0,
  isSettled: true,
  files: 9,
  digest: 'digest',
  pages: 3,
  looped: false,
  batch,
};

type Differences = Partial<FilesetResult> &
  Partial<Pick<ReadEnd<FilesetResult, string>, 'isLast' | 'memo'>> & { readonly isWhole?: boolean };

/** What the judge says of a read: again, with its memo, or what is claimed. */
function judged({ isLast = false, memo = null, isWhole = true, ...differences }: Differences) {
  const result = { ...read, ...differences };
  const judgement = judgeRead({ result, records: 9, isLast, memo }, isWhole);
  if (judgement.kind === 'again') return `again, ${judgement.memo}`;
  expect(judgement.outcome.batch).toBe(batch);
  expect(judgement.outcome.totals).toBe(result.totals);
  return [judgement.outcome.consistency, ...judgement.outcome.assumes].join(', ');
}

const BY_CURSOR = 'cursor, current-responses, fixed-order';

test('a list that looped is never proved', () => {
  expect(judged({ looped: true })).toBe('best-effort');
  expect(judged({ looped: true, pages: 1 })).toBe('best-effort');
});

describe('a read is doubtful', () => {
  test.each<[string, Partial<FilesetResult>]>([
    ['if a file came again', { repeats: 1 }],
    ['if it has fewer files than both totals', { totals: { start: 10, end: 11 } }],
    ['if it has fewer files than both totals, whichever is lower', { totals: { start: 11, end: 10 } }],
  ])('%s: all is read again, and the last read is a best effort', (_, differences) => {
    expect(judged(differences)).toBe('again, null');
    expect(judged({ ...differences, memo: 'digest' })).toBe('again, null');
    expect(judged({ ...differences, isLast: true })).toBe('best-effort');
  });
});

test.each([
  [9, 10],
  [10, 9],
  [9, 8],
  [8, 9],
  [null, 9],
  [9, null],
  [null, 10],
  [10, null],
  [null, null],
])('totals of %j and %j prove nothing, and are no reason to read again', (start, end) => {
  expect(judged({ totals: { start, end } })).toBe(BY_CURSOR);
  expect(judged({ totals: { start, end }, pages: 1 })).toBe(BY_CURSOR);
});

describe('exact totals prove it', () => {
  test('of a single response', () => {
    expect(judged({ pages: 1, isWhole: false, isSettled: false })).toBe('proved, exact-totals');
  });

  test('of files that were created long ago, if they enter in no other way', () => {
    expect(judged({})).toBe('proved, exact-totals, exact-creation-times');
    expect(judged({ isWhole: false })).toBe('again, digest');
    expect(judged({ isSettled: false })).toBe('again, digest');
  });

  test('if two reads found the same files', () => {
    expect(judged({ isSettled: false, memo: 'digest' })).toBe('proved, exact-totals, unique-ids');
    expect(judged({ isSettled: false, memo: 'another' })).toBe('again, digest');
    expect(judged({ isSettled: false, memo: 'another', isLast: true })).toBe(BY_CURSOR);
  });
});
