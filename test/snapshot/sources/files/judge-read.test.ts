import { describe, expect, test } from 'vitest';
import { emptyBatch } from '../../../../lib/snapshot/page/record-fields.ts';
import { judgeRead } from '../../../../lib/snapshot/sources/files/fileset-read.ts';
import type { ReadEnd } from '../../../../lib/snapshot/sources/rereading.ts';

const batch = { ...emptyBatch };

type FilesetResult = Parameters<typeof judgeRead>[0]['result'];

/** A read of 9 files in 3 pages, in an unknown order. */
const read: FilesetResult = {
  totals: { start: 9, end: 9 },
  unnamed: 0,
  repeats: 0,
  isAscending: false,
  isSorted: false,
  isEndShown: true,
  files: 9,
  digest: 7,
  pages: 3,
  batch,
};

type Differences = Partial<FilesetResult> & Partial<Pick<ReadEnd<FilesetResult, number>, 'isLast' | 'memo'>>;

/** The judgement of a read as text: `again` with its memo, or its consistency and assumptions. */
function judged({ isLast = false, memo = null, ...differences }: Differences) {
  const result = { ...read, ...differences };
  const judgement = judgeRead({ result, records: 9, isLast, memo });
  if (judgement.kind === 'again') return `again, ${judgement.memo}`;
  expect(judgement.outcome.batch).toBe(batch);
  expect(judgement.outcome.totals).toBe(result.totals);
  expect(judgement.outcome.isAscending).toBe(result.isAscending);
  return [judgement.outcome.consistency, ...judgement.outcome.assumes].join(', ');
}

test.each<[string, Partial<FilesetResult>]>([
  ['if a file came again', { repeats: 1 }],
  ['if nothing shows that the list ended', { isEndShown: false }],
  ['if it has fewer files than both totals', { totals: { start: 10, end: 11 } }],
  ['if it has fewer files than both totals, whichever is lower', { totals: { start: 11, end: 10 } }],
])(
  'a read is doubtful %s: everything is read again, and the last read is a best effort',
  (_, differences) => {
    for (const proof of [{}, { pages: 1 }, { isSorted: true }, { memo: 7 }]) {
      expect(judged({ ...differences, ...proof })).toBe('again, null');
      expect(judged({ ...differences, ...proof, isLast: true })).toBe('best-effort');
    }
  },
);

test('files without an id count when totals are compared, though they are not records', () => {
  expect(judged({ files: 7, unnamed: 2, pages: 1 })).toBe('proved, current-responses');
  expect(judged({ files: 7, unnamed: 1, pages: 1 })).toBe('again, null');
});

test.each([
  [9, 9],
  [9, 10],
  [10, 9],
  [9, 8],
  [8, 9],
  [null, 9],
  [9, null],
  [10, null],
  [null, null],
])('totals of %j and %j do not contradict a proof by one read', (start, end) => {
  const sorted = 'proved, current-responses, fixed-creation-times, kept-order';

  expect(judged({ totals: { start, end }, pages: 1 })).toBe('proved, current-responses');
  expect(judged({ totals: { start, end }, isSorted: true, isAscending: true })).toBe(sorted);
});

describe('two reads of the same files are a proof', () => {
  test.each([
    [9, 9],
    [9, 8],
    [9, 10],
    [8, null],
    [null, null],
  ])('with totals of %j and %j', (start, end) => {
    const totals = { start, end };

    expect(judged({ totals })).toBe('again, 7');
    expect(judged({ totals, memo: 7 })).toBe('proved, not-missed-twice');
    expect(judged({ totals, memo: 8 })).toBe('again, 7');
    expect(judged({ totals, memo: 8, isLast: true })).toBe('best-effort');
  });

  test('but not if there were more files when the second read began', () => {
    const totals = { start: 10, end: 9 };

    expect(judged({ totals, memo: 7 })).toBe('again, 7');
    expect(judged({ totals, memo: 7, isLast: true })).toBe('best-effort');
  });
});
