import { describe, expect, test } from 'vitest';
import { keyHash } from '../../../../lib/snapshot/changes/key-hash.ts';
import {
  type FilesetPosition,
  filePageReader,
  readFileset,
} from '../../../../lib/snapshot/sources/files/fileset-read.ts';
import { recordsIn } from '../../batches.ts';
import { respondingCall, scriptedCall, statusError } from '../../responding-call.ts';
import { fromBeginning } from '../../scanned.ts';

const FILESET = '0b9f8a52-7b1c-4a57-9d0e-6f0a5f4f2c11';
const CREATED_MS = 10_000_000;

/** A page of files with one-letter ids, all created at the same time. */
function page(
  ids: string,
  next: string | null,
  total: number | null = null,
  createdMs: number | null = CREATED_MS,
) {
  const files = [...ids].map((id) => ({ id, path: `/${id}`, created: createdMs }));
  return JSON.stringify({ files, pageContext: { next, total } });
}

const start: FilesetPosition = {
  next: null,
  followed: 0,
  anchor: null,
  empty: 0,
  totals: { start: null, end: null },
  unnamed: 0,
  repeats: 0,
  digest: 0,
  isAscending: true,
  order: null,
  last: null,
};

type Options = {
  readonly from?: FilesetPosition;
  readonly taken?: readonly string[];
  readonly stopsAtRepeat?: boolean;
  /** The response to a request for the newest files first. Default: no file. */
  readonly newest?: string;
};

/** Reads these pages. Returns the files of each step, the position after it, and the result with its files. */
async function read(
  texts: readonly string[],
  { from, taken = [], stopsAtRepeat = false, newest = page('', null) }: Options = {},
) {
  const remaining = [...texts];
  const call = respondingCall(({ body }) => {
    const [sort] = (body?.['fieldSort'] ?? []) as readonly { readonly order: string }[];
    return (sort?.order === 'DESC' ? newest : remaining.shift()) ?? page('', null);
  });
  const readPage = filePageReader(call, {});
  const options = { filesetId: FILESET, readPage };
  const readBackKeys = async function* () {
    yield taken;
  };
  const steps = readFileset(options, { ...fromBeginning, from, readBackKeys }, stopsAtRepeat);
  const idsIn = (batch: Parameters<typeof recordsIn>[0]) =>
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

/** The digest of files: the sum of the hashes of keys and paths, in any order. */
const digestOf = (ids: string) =>
  [...ids].map((id) => keyHash(`${FILESET}/${id} /${id}`)).reduce((sum, each) => (sum + each) % 2 ** 48, 0);

const rankOf = (id: string, createdMs = CREATED_MS) => ({ createdMs, key: `${FILESET}/${id}` });

test('the files of all pages are read; the files of the last page are in the result', async () => {
  const { yielded, result } = await read([page('ba', 'k', 5), page('', 'l'), page('cd', null, 6)]);

  expect(yielded).toEqual([
    { files: 'ba', total: 5 },
    { files: '', total: null },
  ]);
  expect(result).toMatchObject({
    totals: { start: 5, end: 6 },
    repeats: 0,
    isAscending: false,
    isSorted: false,
    files: 4,
    digest: digestOf('abcd'),
    pages: 3,
    batch: 'cd',
  });
});

test('a position has the progress of the read', async () => {
  const { positions } = await read([page('', 'k', 5), page('', 'l', 6), page('a', 'm'), page('', null)]);

  const asked = { ...start, order: { isSorted: false, newest: null } };
  expect(positions).toEqual([
    { ...start, next: 'k', followed: 1, anchor: 'k', empty: 1, totals: { start: 5, end: 5 } },
    { ...start, next: 'l', followed: 2, anchor: 'l', empty: 2, totals: { start: 5, end: 6 } },
    {
      ...{ ...asked, next: 'm', followed: 3, anchor: 'l', empty: 0, totals: { start: 5, end: null } },
      ...{ digest: digestOf('a'), last: rankOf('a') },
    },
  ]);
});

const OTHER_FILESET = '7c9e6679-7425-40de-944b-e07fc1f90ae7';

describe('a repeated file', () => {
  const texts = [page('ab', 'k'), page('bc', 'l'), page('ca', null)];

  test('is not taken again, and is counted', async () => {
    const { yielded, positions, result } = await read(texts);

    expect(yielded).toMatchObject([{ files: 'ab' }, { files: 'c' }]);
    expect(positions.map(({ repeats }) => repeats)).toEqual([0, 1]);
    expect(result).toMatchObject({ batch: '', files: 3, repeats: 3, digest: digestOf('abc') });
  });

  test('ends the read with stopsAtRepeat', async () => {
    const { yielded, result } = await read(texts, { stopsAtRepeat: true });

    expect(yielded).toHaveLength(1);
    expect(result).toMatchObject({ batch: 'c', files: 3, repeats: 1, pages: 2 });
  });

  test('may have appeared before the read was resumed; a file of another FileSet does not count', async () => {
    const taken = [`${FILESET}/a`, 'another/b', `${FILESET}0/c`];
    const from = { ...start, next: 'k', repeats: 2 };

    const { result } = await read([page('abc', null)], { from, taken });

    expect(result).toMatchObject({ batch: 'bc', files: 3, repeats: 3 });
  });
});

test('files are ascending if each was created after the previous one, or at the same time with a higher id', async () => {
  const ascending = async (...texts: readonly string[]) => (await read(texts)).result.isAscending;

  expect(await ascending(page('ab', 'k'), page('cd', null))).toBe(true);
  expect(await ascending(page('b', 'k'), page('a', null, null, CREATED_MS + 1))).toBe(true);
  expect(await ascending(page('a', 'k'), page('b', null, null, CREATED_MS - 1))).toBe(false);
  expect(await ascending(page('b', 'k'), page('a', 'l'), page('c', null))).toBe(false);
  expect(await ascending(page('a', null, null, null))).toBe(false);
});

describe('the platform counts as sorting by creation', () => {
  const newest = 'tsrqponmlk';
  const sorted = async (first: string, ids: string) =>
    (await read([page(first, 'k'), page('c', null)], { newest: page(ids, null) })).result.isSorted;

  test('if the ten newest files are returned in the opposite order when they are requested first', async () => {
    expect(await sorted('ab', newest)).toBe(true);
    expect(await sorted('ab', newest.slice(1))).toBe(false);
    expect(await sorted('ab', 'abcdefghij')).toBe(false);
    expect(await sorted('ba', newest)).toBe(false);
  });

  test('so its list ends at the newest file that existed at the start, even though newer files follow', async () => {
    const ids = 'abcdefghijklmnop';
    const pages = [page(ids.slice(0, 8), 'k'), page(ids.slice(8, 14), 'l'), page(ids.slice(14), 'm')];

    const { result } = await read(pages, { newest: page('lkjihgfedc', null) });

    expect(result).toMatchObject({ files: 14, pages: 2, isSorted: true, isEndShown: true });
  });

  test('and files without an id count, too, when that file is reached', async () => {
    const ids = 'abcdefghijklmnop';
    const pages = [
      page(ids.slice(0, 8), 'k', 15),
      page(ids.slice(8, 14), 'l', 15).replace('[', '[{"path":"/unnamed"},'),
      page(ids.slice(14), 'm', 15),
    ];

    const { result } = await read(pages, { newest: page('lkjihgfedc', null) });

    expect(result).toMatchObject({ files: 14, unnamed: 1, pages: 2, isSorted: true });
  });

  test('but its list is read to the end if it has reported more files than precede that one', async () => {
    const ids = 'abcdefghijklmnop';
    const pages = [
      page(ids.slice(0, 8), 'k', 16),
      page(ids.slice(8, 14), 'l', 16),
      page(ids.slice(14), null, 16),
    ];

    const { result } = await read(pages, { newest: page('lkjihgfedc', null) });

    expect(result).toMatchObject({ files: 16, pages: 3, isSorted: true, isEndShown: true });
  });

  test('and is asked for that order until it refuses one request with it', async () => {
    const requested: unknown[] = [];
    const call = respondingCall(({ query, body }) => {
      requested.push([query?.['next'], query?.['limit'], body?.['fieldSort'] !== undefined]);
      if (body?.['fieldSort'] !== undefined && requested.length === 2) throw statusError(400);
      return page('a', requested.length === 1 ? 'k' : null);
    });
    const readPage = filePageReader(call, { limit: 7 });

    await readPage({ filesetId: FILESET, next: null });
    await readPage({ filesetId: FILESET, next: 'k' });
    await readPage({ filesetId: FILESET, next: null, newest: 3 });

    expect(requested).toEqual([
      [undefined, 7, true],
      ['k', 7, true],
      ['k', 7, false],
      [undefined, 3, false],
    ]);
  });

  test('and is asked for a limit until it refuses one request with it', async () => {
    const requested: unknown[] = [];
    const call = respondingCall(({ query, body }) => {
      requested.push([query?.['next'], query?.['limit'], body?.['fieldSort'] !== undefined]);
      if (query?.['limit'] !== undefined) throw statusError(400);
      return page('a', requested.length === 3 ? 'k' : null);
    });
    const readPage = filePageReader(call, { limit: 1000 });

    await readPage({ filesetId: FILESET, next: null });
    await readPage({ filesetId: FILESET, next: 'k' });

    expect(requested).toEqual([
      [undefined, 1000, true],
      [undefined, 1000, false],
      [undefined, undefined, true],
      ['k', undefined, true],
    ]);
  });

  test('and a FileSet that is refused does not change the requests for other FileSets', async () => {
    const sorted: boolean[] = [];
    const call = respondingCall(({ path, body }) => {
      if (path?.['filesetId'] !== FILESET) throw statusError(400);
      sorted.push(body?.['fieldSort'] !== undefined);
      return page('a', null);
    });
    const readPage = filePageReader(call, { limit: 7 });

    await expect(readPage({ filesetId: OTHER_FILESET, next: null })).rejects.toThrow('400');
    await readPage({ filesetId: FILESET, next: null });

    expect(sorted).toEqual([true]);
  });

  test('and nothing is requested twice if the platform refuses more than the order', async () => {
    const call = respondingCall(() => {
      throw statusError(400);
    });
    const readPage = filePageReader(call, {});

    await expect(readPage({ filesetId: FILESET, next: null })).rejects.toThrow('400');
  });
});

describe('the last page', () => {
  const whole = (pageContext?: object) =>
    JSON.stringify({ files: [{ id: 'a', path: '/a', created: CREATED_MS }], pageContext });

  test.each([
    ['has no page context', whole(), false],
    ['has neither a cursor nor a total', whole({ offset: 0, limit: 100 }), false],
    ['says that no page follows', whole({ next: null }), true],
    ['says how many files there are', whole({ total: 1 }), true],
  ])('that %s shows the end of the list, or not', async (_, text, isEndShown) => {
    const { result } = await read([text]);

    expect(result.isEndShown).toBe(isEndShown);
  });

  test('without a cursor or total shows the end if it reaches the newest file of all', async () => {
    const files = [...'abcdefghij'].map((id) => ({ id, path: `/${id}`, created: CREATED_MS }));

    const { result } = await read([JSON.stringify({ files })], { newest: page('jihgfedcba', null) });

    expect(result).toMatchObject({ isEndShown: true, isSorted: true });
  });
});

test('an unordered list that grows while it is read shows no end', async () => {
  const ids = (from: number) =>
    String.fromCodePoint(...Array.from({ length: 9_000 }, (_, at) => 0x4e00 + from - at));
  const pages = [page(ids(9_000), 'k', 3), page(ids(18_000), 'l', 9_000), page('z', null, 9_000)];

  const { result } = await read(pages);

  expect(result).toMatchObject({ pages: 2, isEndShown: false });
});

describe('an endless list is refused', () => {
  const faultOf = async (from: FilesetPosition) => {
    const error = await read([page('a', null)], { from }).catch((reason: unknown) => reason);
    return error instanceof Error && 'failure' in error ? [error.failure, error.message] : undefined;
  };

  test('after 100,000 pages', async () => {
    const having = (count: number) => ({ ...start, next: 'k', followed: count });

    expect(await faultOf(having(99_999))).toBeUndefined();
    expect(await faultOf(having(100_000))).toEqual([
      { kind: 'endless', pages: 100_000, empty: false },
      expect.stringContaining(`searchFiles (files of FileSet ${FILESET})`),
    ]);
  });

  test('after 1,000 empty pages in a row', async () => {
    const having = (empty: number) => ({ ...start, next: 'k', empty, followed: 5_000 });

    expect(await faultOf(having(999))).toBeUndefined();
    expect(await faultOf(having(1_000))).toEqual([
      { kind: 'endless', pages: 1_000, empty: true },
      expect.stringContaining('1000'),
    ]);
  });
});

test('no page is requested once the read is aborted', async () => {
  const { call, inputs } = scriptedCall([]);
  const options = { filesetId: FILESET, readPage: filePageReader(call, {}) };
  const signal = AbortSignal.abort(new Error('enough'));

  await expect(readFileset(options, { ...fromBeginning, signal }, false).next()).rejects.toThrow('enough');
  expect(inputs).toEqual([]);
});
