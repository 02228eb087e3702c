import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { collectChanges } from '../../../lib/snapshot/changes/change.ts';
import { compareRuns, publishChanges } from '../../../lib/snapshot/changes/changes-between.ts';
import type { Manifest } from '../../../lib/snapshot/manifest.ts';
import type { Store } from '../../../lib/store/store.ts';
import { storeOfEach } from '../../store/store-of-each.ts';
import { storeRun } from './stored-run.ts';

const store = storeOfEach();

type Runs = Pick<Manifest, 'parts'>;

const nothing = { parts: [] };
const line = (id: number, name: string) => `{"id":${id},"name":"${name}"}`;
const thousand = Array.from({ length: 1_000 }, (_, at) => line(at, 'x'.repeat(at)));

const compare = (before: Pick<Manifest, 'parts'>, after: Pick<Manifest, 'parts'>, signal?: AbortSignal) =>
  compareRuns({ store, source: 'calculations', before, after, signal });

const keyOf = (run: Pick<Manifest, 'parts'>) => run.parts[0]?.key ?? '';

describe('an error about a part', () => {
  test('names a missing part', async () => {
    const run = await storeRun(store, 'new', thousand);
    await store.delete(keyOf(run));

    await expect(collectChanges(compare(nothing, run), 1)).rejects.toThrow(
      `${keyOf(run)} in memory: expected a part, got nothing`,
    );
  });

  test('names a part with another part’s bytes, and both checksums', async () => {
    const run = await storeRun(store, 'new', thousand);
    const other = await storeRun(store, 'other', [line(1, 'a')]);
    await store.copy(keyOf(other), keyOf(run));

    await expect(collectChanges(compare(nothing, run), 1)).rejects.toThrow(
      `${keyOf(run)}: expected the sha256 ${run.parts[0]?.sha256} of the manifest, got ${other.parts[0]?.sha256}`,
    );
  });

  test('says why a part that its manifest describes cannot be read, such as that it is not gzip', async () => {
    const body = Buffer.from('not gzip at all');
    const run = await storeRun(store, 'new', thousand);
    await store.put(keyOf(run), body);
    const sha256 = createHash('sha256').update(body).digest('hex');
    const parts = run.parts.map((part) => ({ ...part, sha256, bytes: body.byteLength }));

    await expect(collectChanges(compare({ parts }, nothing), 1)).rejects.toMatchObject({
      message: `${keyOf(run)} in memory: cannot be decompressed`,
      cause: { code: 'Z_DATA_ERROR' },
    });
  });

  test.each([
    ['cut short', (body: Buffer) => body.subarray(0, body.byteLength / 2)],
    ['emptied', () => Buffer.alloc(0)],
    ['overwritten with something else', () => Buffer.from('not gzip at all')],
  ])('names a part that was %s', async (_how, damage) => {
    const run = await storeRun(store, 'new', thousand);
    const stored = await store.get(keyOf(run));
    await store.put(keyOf(run), damage(stored?.body ?? Buffer.alloc(0)));

    const failed = collectChanges(compare(run, nothing), 1);

    await expect(failed).rejects.toMatchObject({ name: 'StoredObjectError' });
    await expect(failed).rejects.toThrow(keyOf(run));
  });

  test.each([
    ['a tail', 1],
    ['a hole', 1_000_000],
  ])('names a part with %s of zeros, however late the rest arrives', async (_what, zeros) => {
    const run = await storeRun(store, 'new', thousand);
    const whole = (await store.get(keyOf(run)))?.body ?? Buffer.alloc(0);
    const stream: Store['stream'] = async () =>
      (async function* late() {
        yield Buffer.concat([whole, Buffer.alloc(zeros)]);
        await new Promise((resolve) => setTimeout(resolve, 50));
        if (zeros > 1) yield whole;
      })();

    const comparison = { source: 'calculations', before: run, after: nothing } as const;
    const failed = collectChanges(compareRuns({ ...comparison, store: { ...store, stream } }), 1);

    await expect(failed).rejects.toThrow(`${keyOf(run)}: expected the sha256`);
  });

  test('names the part and the number of a line that is not a record', async () => {
    const noJson = await storeRun(store, 'a', [line(1, 'a'), '{"id":2']);
    const noKey = await storeRun(store, 'b', [line(1, 'a'), line(2, 'b'), '{"id":"x"}']);

    await expect(collectChanges(compare(nothing, noJson), 1)).rejects.toThrow(`${keyOf(noJson)}, line 2: `);
    await expect(collectChanges(compare(nothing, noKey), 1)).rejects.toThrow(
      `${keyOf(noKey)}, line 3: expected a record with an integer as its id, got none`,
    );
  });

  test('is the caller’s own reason after an abort', async () => {
    const stop = new AbortController();
    const run = await storeRun(store, 'new', thousand, { partRecords: 250 });
    const steps = compare(nothing, run, stop.signal);
    await steps.next();

    stop.abort(new Error('stopped by SIGINT'));

    await expect(collectChanges(steps, 1)).rejects.toThrow('stopped by SIGINT');
  });

  test('does not occur if a caller stops reading at any change', async () => {
    const run = await storeRun(store, 'new', thousand, { partRecords: 100 });
    const steps = compare(nothing, run);

    const first = await steps.next();
    await steps.return(undefined);

    expect(first.value).toMatchObject({ change: 'added', key: '0' });
  });
});

describe('writing changes', () => {
  const write = (key: string, before: Runs, after: Runs, from: Store = store) =>
    publishChanges({ store: from, source: 'calculations', before, after, key, scratch: 'scratch/' });
  const read = async (key: string) => gunzipSync((await store.get(key))?.body ?? '').toString('utf8');
  const sha256 = async (key: string) =>
    createHash('sha256')
      .update((await store.get(key))?.body ?? '')
      .digest('hex');

  test('stores one line a change, with the records byte for byte, and returns the counts', async () => {
    const before = await storeRun(store, 'old', ['{"id":1, "a":1.0}', '{"id":2}']);
    const after = await storeRun(store, 'new', ['{"id": 1,"a":9007199254740993}', '{"id":3}']);

    const counts = await write('changes.gz', before, after);

    expect(counts).toEqual({ added: 1, removed: 1, changed: 1 });
    expect(await read('changes.gz')).toBe(
      [
        '{"change":"changed","key":"1","before":{"id":1, "a":1.0},"after":{"id": 1,"a":9007199254740993},"fields":["a"]}',
        '{"change":"removed","key":"2","before":{"id":2},"fields":[]}',
        '{"change":"added","key":"3","after":{"id":3},"fields":[]}',
        '',
      ].join('\n'),
    );
  });

  test('stores an object without lines if there are no changes', async () => {
    const counts = await write('changes.gz', nothing, nothing);

    expect(counts).toEqual({ added: 0, removed: 0, changed: 0 });
    expect(await read('changes.gz')).toBe('');
  });

  test('stores the same bytes for the same changes, however slowly they arrive', async () => {
    const run = await storeRun(store, 'new', thousand);
    const stream: Store['stream'] = async (key) => {
      const body = (await store.get(key))?.body ?? Buffer.alloc(0);
      return (async function* slowly() {
        for (let from = 0; from < body.byteLength; from += 7) {
          await new Promise(setImmediate);
          yield body.subarray(from, from + 7);
        }
      })();
    };

    await write('one.gz', nothing, run);
    await write('two.gz', nothing, run, { ...store, stream });

    expect(await sha256('two.gz')).toBe(await sha256('one.gz'));
  });

  test('stores nothing if the comparison fails', async () => {
    const run = await storeRun(store, 'new', thousand, { partRecords: 500 });
    await store.delete(run.parts[1]?.key ?? '');

    const writing = write('changes.gz', nothing, run);

    await expect(writing).rejects.toThrow('expected a part, got nothing');
    expect(await store.get('changes.gz')).toBeUndefined();
  });
});
