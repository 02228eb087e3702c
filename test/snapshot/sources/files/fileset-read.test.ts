import { describe, expect, test } from 'vitest';
import {
  type FilesetPosition,
  type FilesetResult,
  readFileset,
} from '../../../../lib/snapshot/sources/files/fileset-read.ts';
import { filePageReader } from '../../../../lib/snapshot/sources/files/pages.ts';
import { noCursors } from '../../../../lib/snapshot/sources/files/seen-cursors.ts';
import { createSeenKeys } from '../../../../lib/snapshot/sources/files/seen-keys.ts';
import { recordsIn } from '../../batches.ts';
import { scriptedCall } from '../../responding-call.ts';
import { fromBeginning } from '../../scanned.ts';

const FILESET = '0b9f8a52-7b1c-4a57-9d0e-6f0a5f4f2c11';
const STARTED_MS = 10_000_000;
const LONG_AGO = STARTED_MS - 15 * 60_000 - 1;

/** A page with these files, all created long ago. */
const page = (ids: string, next: string | null, total: number | null = null, created = LONG_AGO) =>
  JSON.stringify({ files: [...ids].map((id) => ({ id, created })), pageContext: { next, total } });

const start: FilesetPosition = {
  startedMs: STARTED_MS,
  next: null,
  cursors: noCursors,
  empty: 0,
  totals: { start: null, end: null },
  repeats: 0,
  isSettled: true,
};

type Options = {
  readonly from?: FilesetPosition;
  readonly taken?: readonly string[];
  readonly stopsAtRepeat?: boolean;
};

/** Reads these pages: the files of each step, the positions after them, and the result with its files. */
async function read(texts: readonly string[], { from, taken = [], stopsAtRepeat = false }: Options = {}) {
  const readPage = filePageReader(scriptedCall(texts).call, {});
  const options = { filesetId: FILESET, readPage, now: () => STARTED_MS };
  const takenKeys = async function* () {
    yield taken;
  };
  const steps = readFileset(options, { ...fromBeginning, from, takenKeys }, stopsAtRepeat);
  const idsIn = (batch: FilesetResult['batch']) =>
    recordsIn(batch)
      .keys.map((key) => key.slice(FILESET.length + 1))
      .join('');
  const yielded: object[] = [];
  const positions: FilesetPosition[] = [];
  for (;;) {
    const { done, value } = await steps.next();
    if (done) return { yielded, positions, result: { ...value, batch: idsIn(value.batch) } };
    yielded.push({ files: idsIn(value.batch), total: value.total });
    positions.push(value.position);
  }
}

function digestOf(ids: string): string {
  const seen = createSeenKeys();
  for (const id of ids) seen.add(`${FILESET}/${id}`);
  return seen.digest();
}

test('the files of all pages are read; those of the last one are in the result', async () => {
  const { yielded, result } = await read([page('ab', 'k', 5), page('', 'l'), page('cd', null, 6)]);

  expect(yielded).toEqual([
    { files: 'ab', total: 5 },
    { files: '', total: null },
  ]);
  expect(result).toEqual({
    totals: { start: 5, end: 6 },
    repeats: 0,
    isSettled: true,
    files: 4,
    digest: digestOf('abcd'),
    pages: 3,
    looped: false,
    batch: 'cd',
  });
});

test('what was taken before counts only if the read is resumed', async () => {
  const { result } = await read([page('ab', null)], { taken: [`${FILESET}/a`] });

  expect(result).toMatchObject({ batch: 'ab', files: 2, repeats: 0 });
});

test('a position says how far the read is', async () => {
  const { positions } = await read([page('', 'k', 5), page('', 'l', 6), page('a', 'm'), page('', null)]);

  expect(positions.map(({ cursors, ...rest }) => ({ ...rest, cursors: cursors.count }))).toEqual([
    { ...start, next: 'k', cursors: 1, empty: 1, totals: { start: 5, end: 5 } },
    { ...start, next: 'l', cursors: 2, empty: 2, totals: { start: 5, end: 6 } },
    { ...start, next: 'm', cursors: 3, empty: 0, totals: { start: 5, end: null } },
  ]);
});

describe('a list ends', () => {
  test.each([
    ['at a cursor that is null', [page('a', 'k'), page('b', null)], false, 2],
    ['at the cursor that was sent', [page('a', 'k'), page('b', 'k')], false, 2],
    ['at a cursor that was followed', [page('a', 'k'), page('b', 'l'), page('c', 'k')], true, 3],
  ])('%s', async (_, texts, looped, pages) => {
    const { result } = await read(texts);

    expect(result).toMatchObject({ looped, pages, files: pages });
  });
});

describe('a file that came before', () => {
  const texts = [page('ab', 'k'), page('bc', 'l'), page('ca', null)];

  test('is not taken again, and is counted', async () => {
    const { yielded, positions, result } = await read(texts);

    expect(yielded).toMatchObject([{ files: 'ab' }, { files: 'c' }]);
    expect(positions.map(({ repeats }) => repeats)).toEqual([0, 1]);
    expect(result).toMatchObject({ batch: '', files: 3, repeats: 3, digest: digestOf('abc') });
  });

  test('ends the read if it is not the last one', async () => {
    const { yielded, result } = await read(texts, { stopsAtRepeat: true });

    expect(yielded).toHaveLength(1);
    expect(result).toMatchObject({ batch: 'c', files: 3, repeats: 1, pages: 2, looped: false });
  });

  test('may have come before the read was resumed; a file of another FileSet does not count', async () => {
    const taken = [`${FILESET}/a`, 'another/b', `${FILESET}0/c`];
    const from = { ...start, next: 'k', repeats: 2 };

    const { result } = await read([page('abc', null)], { from, taken });

    expect(result).toMatchObject({ batch: 'bc', files: 3, repeats: 3 });
  });
});

test('a file is settled if it was created more than 15 minutes before the read began', async () => {
  const settled = async (created: number | null, isSettled = true) => {
    const text = page('a', null, null, created as number);
    return (await read([text], { from: { ...start, isSettled } })).result.isSettled;
  };

  expect(await settled(LONG_AGO)).toBe(true);
  expect(await settled(LONG_AGO + 1)).toBe(false);
  expect(await settled(null)).toBe(false);
  expect(await settled(LONG_AGO, false)).toBe(false);
});

describe('a list that does not end is refused', () => {
  const faultOf = async (from: FilesetPosition) => {
    const error = await read([page('a', null)], { from }).catch((reason: unknown) => reason);
    return error instanceof Error && 'failure' in error ? [error.failure, error.message] : undefined;
  };

  test('after 100,000 pages', async () => {
    const having = (count: number) => ({ ...start, next: 'k', cursors: { ...noCursors, count } });

    expect(await faultOf(having(99_999))).toBeUndefined();
    expect(await faultOf(having(100_000))).toEqual([
      { kind: 'endless', pages: 100_000, empty: false },
      expect.stringContaining(`searchFiles (files of FileSet ${FILESET})`),
    ]);
  });

  test('after 1,000 empty pages in a row', async () => {
    const having = (empty: number) => ({
      ...start,
      next: 'k',
      empty,
      cursors: { ...noCursors, count: 5_000 },
    });

    expect(await faultOf(having(999))).toBeUndefined();
    expect(await faultOf(having(1_000))).toEqual([
      { kind: 'endless', pages: 1_000, empty: true },
      expect.stringContaining('1000'),
    ]);
  });
});

test('no page is requested once the read is aborted', async () => {
  const { call, inputs } = scriptedCall([]);
  const options = { filesetId: FILESET, readPage: filePageReader(call, {}), now: () => STARTED_MS };
  const signal = AbortSignal.abort(new Error('enough'));

  await expect(readFileset(options, { ...fromBeginning, signal }, false).next()).rejects.toThrow('enough');
  expect(inputs).toEqual([]);
});
