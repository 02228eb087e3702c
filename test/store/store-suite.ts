import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { test as base, describe, expect } from 'vitest';
import { gatherInPlace } from '../../lib/base/json/index.ts';
import { StoreError } from '../../lib/store/error.ts';
import type { Store } from '../../lib/store/store.ts';
import { anyCodePoint } from '../any-text.ts';
import { scaled } from '../scale.ts';

/** A `test` that creates a new, empty store for each test. */
const testsOn = (makeStore: () => Promise<Store>) => base.extend('store', () => makeStore());
type StoreTest = ReturnType<typeof testsOn>;

/** What every adapter must do. `makeStore` returns a new, empty store for each test. */
export function describeStore(name: string, makeStore: () => Promise<Store>): void {
  const test = testsOn(makeStore);
  describe(name, () => {
    describeObjects(test);
    describeConditions(test);
    describeLists(test);
    describeKeys(test);
    describeAborts(test);
  });
}

const bytes = (text: string) => Buffer.from(text);

const keysUnder = async (store: Store, prefix: string): Promise<readonly string[]> =>
  (await Array.fromAsync(store.list(prefix))).map(({ key }) => key);

function describeObjects(test: StoreTest): void {
  test.for([0, 10, 9_000_000])(
    'an object of %i bytes that arrives in pieces comes back byte for byte',
    async (size, { store }) => {
      const body = Buffer.alloc(size, 'pieces of something');
      async function* pieces() {
        for (let from = 0; from < size; from += 1_000_000) yield body.subarray(from, from + 1_000_000);
      }

      await store.put('runs/a.bin', bytes('replaced'));
      await store.putStream('runs/a.bin', pieces());

      const found = await store.get('runs/a.bin');
      expect(found?.body.equals(body)).toBe(true);
    },
  );

  test('an error of the source of an object is rethrown, and the previous object stays', async ({
    store,
  }) => {
    const failure = new RangeError('the third piece');
    async function* pieces() {
      yield Buffer.alloc(5_000_000);
      yield Buffer.alloc(5_000_000);
      throw failure;
    }

    await store.put('a', bytes('before'));
    const failed = store.putStream('a', pieces());

    await expect(failed).rejects.toBe(failure);
    expect((await store.get('a'))?.body).toEqual(bytes('before'));
  });

  test('an object may be empty', async ({ store }) => {
    await store.put('empty', bytes(''));
    const found = await store.get('empty');

    expect(found?.body).toEqual(bytes(''));
    expect(await Array.fromAsync(store.list(''))).toMatchObject([
      { key: 'empty', sizeBytes: 0, mark: expect.any(String) },
    ]);
  });

  test('a list marks an object differently once other content was stored', async ({ store }) => {
    await store.put('a', bytes('before'));
    const [before] = await Array.fromAsync(store.list(''));

    const again = await Array.fromAsync(store.list(''));
    await store.put('a', bytes('behind'));
    const [after] = await Array.fromAsync(store.list(''));

    expect(again).toEqual([before]);
    expect(after?.sizeBytes).toBe(before?.sizeBytes);
    expect(after?.mark).not.toBe(before?.mark);
  });

  test('the etag changes exactly when the content does', async ({ store }) => {
    const first = await store.put('a', bytes('one'));
    const second = await store.put('a', bytes('two'));
    const third = await store.put('a', bytes('two'));

    expect(second).not.toEqual(first);
    expect(third).toEqual(second);
    expect((await store.get('a'))?.body).toEqual(bytes('two'));
  });

  test('an object that was never stored can be neither read nor streamed', async ({ store }) => {
    const found = [await store.get('a/b'), await store.stream('a/b')];

    expect(found).toEqual([undefined, undefined]);
  });

  test('a folder is not an object, and an object is not a folder', async ({ store }) => {
    await store.put('a/b', bytes('x'));

    const found = [await store.get('a'), await store.stream('a'), await store.get('a/b/c')];
    await store.delete('a');
    await store.delete('a/b/c');

    expect(found).toEqual([undefined, undefined, undefined]);
    expect(await keysUnder(store, '')).toEqual(['a/b']);
  });

  test.for([2, 20])(
    'a body of %i MiB that was built in place is read back, whole and as a stream',
    async (size, { store }) => {
      const body = Buffer.alloc(size * 1024 * 1024, 'platform-sync');
      const grown = gatherInPlace();
      grown.add(body);

      const result = await store.put('large', grown.bytes());
      grown.clear();
      const found = await store.get('large');
      const streamed = Buffer.concat(await Array.fromAsync((await store.stream('large')) ?? []));

      expect(result).toEqual({ kind: 'stored', etag: found?.etag });
      expect(body.equals(found?.body ?? bytes(''))).toBe(true);
      expect(body.equals(streamed)).toBe(true);
    },
  );

  test('an object of more bytes than the limit is not read', async ({ store }) => {
    await store.put('a/b', bytes('12345'));

    const read = await store.get('a/b', { maxBytes: 5 });
    const refused = store.get('a/b', { maxBytes: 4 });

    expect(read?.body.toString()).toBe('12345');
    await expect(refused).rejects.toMatchObject({
      failure: { kind: 'too-large', maxBytes: 4, sizeBytes: 5 },
      message: `get a/b in ${store.location}: expected at most 4 bytes, got 5`,
    });
  });

  test('a copy has the bytes of its source and remains when the source is deleted', async ({ store }) => {
    await store.put('work/ü 1+1=2 %41?#&.gz', bytes('part'));
    await store.put('dt=2026-11-21/part.gz', bytes('older'));

    await store.copy('work/ü 1+1=2 %41?#&.gz', 'dt=2026-11-21/part.gz');
    await store.delete('work/ü 1+1=2 %41?#&.gz');

    expect((await store.get('dt=2026-11-21/part.gz'))?.body).toEqual(bytes('part'));
    expect(await keysUnder(store, '')).toEqual(['dt=2026-11-21/part.gz']);
  });

  test('copying a missing object is an error', async ({ store }) => {
    const copy = store.copy('a', 'b');

    await expect(copy).rejects.toMatchObject({
      name: 'StoreError',
      failure: { kind: 'missing', what: 'object' },
    });
    await expect(copy).rejects.toThrow('there is no such object');
  });

  test('a deleted object is missing, and deleting it again is not an error', async ({ store }) => {
    await store.put('a/b', bytes('x'));

    await store.delete('a/b');
    await store.delete('a/b');

    expect(await store.get('a/b')).toBeUndefined();
    expect(await keysUnder(store, '')).toEqual([]);
  });

  test('after the last object of a folder is deleted, an object may take the folder’s name', async ({
    store,
  }) => {
    await store.put('a/b/c', bytes('x'));
    await store.delete('a/b/c');

    await store.put('a', bytes('y'));

    expect(await keysUnder(store, '')).toEqual(['a']);
  });
}

function describeConditions(test: StoreTest): void {
  test('a put if absent is stored once', async ({ store }) => {
    const first = await store.put('latest.json', bytes('1'), { condition: { ifAbsent: true } });
    const second = await store.put('latest.json', bytes('2'), { condition: { ifAbsent: true } });

    expect(first).toMatchObject({ kind: 'stored' });
    expect(second).toEqual({ kind: 'condition-failed' });
    expect((await store.get('latest.json'))?.body).toEqual(bytes('1'));
  });

  test('a put over the current etag is stored, and a put over an older one is not', async ({ store }) => {
    await store.put('latest.json', bytes('1'));
    const etag = (await store.get('latest.json'))?.etag ?? '';

    const won = await store.put('latest.json', bytes('2'), { condition: { ifMatch: etag } });
    const refused = await store.put('latest.json', bytes('3'), { condition: { ifMatch: etag } });

    expect(won).toEqual({ kind: 'stored', etag: (await store.get('latest.json'))?.etag });
    expect(refused).toEqual({ kind: 'condition-failed' });
    expect((await store.get('latest.json'))?.body).toEqual(bytes('2'));
  });

  test('a put over an etag fails if there is no object, and stores nothing', async ({ store }) => {
    await store.put('latest.json', bytes('1'));
    const etag = (await store.get('latest.json'))?.etag ?? '';
    await store.delete('latest.json');

    const result = await store.put('latest.json', bytes('2'), { condition: { ifMatch: etag } });

    expect(result).toEqual({ kind: 'condition-failed' });
    expect(await keysUnder(store, '')).toEqual([]);
  });

  test('a body of 20 MiB is stored once if it must be absent', async ({ store }) => {
    const first = await store.put('large', Buffer.alloc(20 * 1024 * 1024, 'a'), {
      condition: { ifAbsent: true },
    });
    const second = await store.put('large', Buffer.alloc(20 * 1024 * 1024, 'b'), {
      condition: { ifAbsent: true },
    });

    expect(first).toMatchObject({ kind: 'stored' });
    expect(second).toEqual({ kind: 'condition-failed' });
    expect((await store.get('large'))?.body.at(-1)).toBe(bytes('a').at(0));
  });

  test('exactly one of several concurrent puts if absent is stored', async ({ store }) => {
    for (const round of Array(scaled(8, 25)).keys()) {
      const writers = ['a', 'b', 'c'];
      const results = await Promise.all(
        writers.map((writer) =>
          store.put(`round/${round}`, bytes(writer), { condition: { ifAbsent: true } }),
        ),
      );

      const winners = writers.filter((_, index) => results[index]?.kind === 'stored');
      expect(winners).toHaveLength(1);
      expect((await store.get(`round/${round}`))?.body.toString()).toBe(winners[0]);
    }
  });

  test('exactly one of several concurrent puts over one etag is stored', async ({ store }) => {
    await store.put('a', bytes('start'));

    for (const round of Array(scaled(8, 25)).keys()) {
      const etag = (await store.get('a'))?.etag ?? '';
      const writers = [`a${round}`, `b${round}`, `c${round}`];
      const results = await Promise.all(
        writers.map((writer) => store.put('a', bytes(writer), { condition: { ifMatch: etag } })),
      );

      const winners = writers.filter((_, index) => results[index]?.kind === 'stored');
      expect(winners).toHaveLength(1);
      expect((await store.get('a'))?.body.toString()).toBe(winners[0]);
    }
  });
}

function describeLists(test: StoreTest): void {
  test('a list has the keys in the order of their UTF-8 bytes, with sizes', async ({ store }) => {
    for (const key of ['a/b', 'a-b', 'a0', 'B', '_m', 'é', '\u{1F600}', '\uFF21', 'a/Z/1'])
      await store.put(key, bytes(key));

    const listed = await Array.fromAsync(store.list(''));

    expect(listed.map(({ key }) => key)).toEqual([
      'B',
      '_m',
      'a-b',
      'a/Z/1',
      'a/b',
      'a0',
      'é',
      '\uFF21',
      '\u{1F600}',
    ]);
    expect(listed.map(({ sizeBytes }) => sizeBytes)).toEqual([1, 2, 3, 5, 3, 2, 2, 3, 4]);
  });

  test.for([
    ['', ['dt=1/run=1/a', 'dt=1/run=10/a', 'dt=1/run=2', 'dt=2']],
    ['dt=1/', ['dt=1/run=1/a', 'dt=1/run=10/a', 'dt=1/run=2']],
    ['dt=1/run=1', ['dt=1/run=1/a', 'dt=1/run=10/a']],
    ['dt=1/run=1/', ['dt=1/run=1/a']],
    ['dt=2', ['dt=2']],
    ['dt=2/', []],
    ['d', ['dt=1/run=1/a', 'dt=1/run=10/a', 'dt=1/run=2', 'dt=2']],
    ['none/such', []],
  ] as const)(
    'a list under "%s" has exactly the keys that start with it',
    async ([prefix, expected], { store }) => {
      for (const key of ['dt=2', 'dt=1/run=2', 'dt=1/run=10/a', 'dt=1/run=1/a'])
        await store.put(key, bytes('x'));

      const keys = await keysUnder(store, prefix);

      expect(keys).toEqual(expected);
    },
  );

  test.for([
    ['', ['a', 'a.B', 'a.b', 'c']],
    ['a', ['a', 'a.B', 'a.b']],
    ['a.', ['a.B', 'a.b']],
    ['a/', ['a/run']],
    ['a/run', ['a/run']],
    ['a/run/', ['a/run/2']],
    ['c/d', []],
    ['none/such', []],
  ] as const)(
    'the folders that start with "%s" are each found once',
    async ([prefix, expected], { store }) => {
      for (const key of ['a/run/1', 'a/run/2/x', 'a/b', 'a.b/x', 'a.B/x', 'c/d', 'e'])
        await store.put(key, bytes('x'));

      const folders = await Array.fromAsync(store.folders(prefix));

      expect(folders.toSorted()).toEqual(expected);
    },
  );

  test('a list may be abandoned early', async ({ store }) => {
    for (const key of ['a', 'b', 'c']) await store.put(key, bytes('x'));

    const seen: string[] = [];
    for await (const { key } of store.list('')) {
      seen.push(key);
      if (key === 'b') break;
    }

    expect(seen).toEqual(['a', 'b']);
  });
}

function describeKeys(test: StoreTest): void {
  test.for([
    'dt=2026-11-21/run=20261121T091500Z-3fa9c1/part-00000-1f2e3d4c5b6a.ndjson.gz',
    ' spaces  and\u00A0more ',
    'ünïcode/日本/\u{1F600}',
    'e\u0301 is not \u00E9',
    '100%/%41/%2F/a+b&c=d?e#f;g,h:i@j$k!l\'m(n)o*p"q<r>s|t^u`v{w}x~',
    '.hidden/..also/...',
    `${'a'.repeat(200)}/${'b'.repeat(200)}/${'c'.repeat(200)}`,
    'constructor/__proto__',
  ])('%j is a valid key', async (key, { store }) => {
    await store.put(key, bytes('x'));

    expect((await store.get(key))?.body).toEqual(bytes('x'));
    expect(await keysUnder(store, '')).toEqual([key]);
  });

  test.for([
    '',
    '/a',
    'a/',
    'a//b',
    '.',
    '..',
    '../a',
    'a/../../b',
    'a/./b',
    'a\\b',
    'a\0b',
    'a\nb',
    '\uD800',
    '.store/locks/a',
    '.STORE',
    'a'.repeat(1_025),
  ])('%j is not a valid key, for any call', async (key, { store }) => {
    await store.put('a', bytes('x'));
    const calls = [
      () => store.get(key),
      () => store.stream(key),
      () => store.put(key, bytes('x')),
      () => store.copy('a', key),
      () => store.copy(key, 'a'),
      () => store.delete(key),
    ];

    for (const call of calls) {
      await expect(call()).rejects.toMatchObject({ name: 'StoreError', failure: { kind: 'bad-key' } });
    }
  });

  test('the error for a bad key says what was expected', async ({ store }) => {
    const error = await store.get('a/../b').catch((thrown: unknown) => thrown);

    expect(error).toBeInstanceOf(StoreError);
    expect(String(error)).toContain('expected no segment "." or "..", got "a/../b"');
  });

  test.for(['/', '../', 'a//', 'a/../b'])('%j is not a valid prefix', async (prefix, { store }) => {
    const list = Array.fromAsync(store.list(prefix));

    await expect(list).rejects.toMatchObject({ failure: { kind: 'bad-key' } });
  });

  test('every object whose key is accepted is read back under that key', async ({ store }) => {
    const keys = fc.array(fc.string({ unit: anyCodePoint, minLength: 1, maxLength: 12 }), {
      minLength: 1,
      maxLength: 4,
    });

    await fc.assert(
      fc.asyncProperty(keys, async (segments) => {
        const key = segments.join('/');
        const result = await store.put(key, bytes(key)).catch((error: StoreError) => error.failure);
        fc.pre(result.kind !== 'bad-key' && result.kind !== 'key-conflict');
        const found = await store.get(key);
        await store.delete(key);
        expect(found?.body.toString()).toBe(key);
      }),
      { numRuns: 30 },
    );
  });
}

function describeAborts(test: StoreTest): void {
  test('an aborted signal stops every call with its own reason', async ({ store }) => {
    await store.put('a', bytes('x'));
    const reason = new Error('the caller stopped');
    const signal = AbortSignal.abort(reason);
    const calls = [
      () => store.get('a', { signal }),
      () => store.stream('a', { signal }),
      () => store.put('b', bytes('x'), { signal }),
      () => store.copy('a', 'b', { signal }),
      () => Array.fromAsync(store.list('', { signal })),
      () => store.delete('a', { signal }),
    ];

    for (const call of calls) await expect(call()).rejects.toBe(reason);

    expect(await keysUnder(store, '')).toEqual(['a']);
  });

  test('an abort in the middle of a stream stops it with its own reason', async ({ store }) => {
    await store.put('large', Buffer.alloc(8 * 1024 * 1024, 'x'));
    const reason = new Error('the caller stopped');
    const controller = new AbortController();
    const stream = (await store.stream('large', { signal: controller.signal })) ?? [];

    const read = async () => {
      for await (const _ of stream) controller.abort(reason);
    };

    await expect(read()).rejects.toBe(reason);
  });

  test('a large put that is aborted stores nothing', async ({ store }) => {
    const reason = new Error('the caller stopped');
    const controller = new AbortController();

    const put = store.put('large', Buffer.alloc(40 * 1024 * 1024, 'x'), { signal: controller.signal });
    await sleep(1);
    controller.abort(reason);

    await expect(put).rejects.toBe(reason);
    expect(await store.get('large')).toBeUndefined();
  });
}
