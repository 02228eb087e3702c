import { describe, expect, test } from 'vitest';
import { damagedPart, readLastPublication } from '../../../lib/snapshot/publish/last-publication.ts';
import type { Store } from '../../../lib/store/store.ts';
import { createMemoryStore } from '../../store/memory-store.ts';
import { monday, publishLines } from '../changes/publish-lines.ts';
import { storeRun } from '../changes/stored-run.ts';

const LINES = ['{"id":1}', '{"id":2}'];

async function published() {
  const store = createMemoryStore();
  await publishLines(store, { run: monday, lines: LINES });
  const last = await readLastPublication(store, 'calculations');
  const [part] = last.manifest?.parts ?? [];
  if (part === undefined) throw new Error('expected a part');
  return { store, last, part };
}

describe('what is published at a place', () => {
  test('is nothing before the first publication', async () => {
    expect(await readLastPublication(createMemoryStore(), 'calculations')).toEqual({
      etag: undefined,
      latest: undefined,
      manifest: undefined,
      broken: undefined,
    });
  });

  test('is what latest.json names, if all of its parts are there', async () => {
    const { last } = await published();

    expect(last).toMatchObject({
      etag: expect.any(String),
      latest: { run: monday.id },
      manifest: { run: monday.id },
    });
    expect(last.broken).toBeUndefined();
  });

  test('is broken if a part is gone, or not as long as it was', async () => {
    const { store, part } = await published();

    await store.put(part.key, Buffer.alloc(3));
    const cut = await readLastPublication(store, 'calculations');
    await store.delete(part.key);
    const gone = await readLastPublication(store, 'calculations');

    expect(cut.broken).toBe(`${part.key}: expected a part of ${part.bytes} bytes, got 3 bytes`);
    expect(gone.broken).toBe(`${part.key}: expected a part of ${part.bytes} bytes, got nothing`);
    expect(gone.manifest).toBeDefined();
  });

  test('is broken if its manifest is gone, and can still be replaced', async () => {
    const { store, last } = await published();
    await store.delete(last.latest?.manifest ?? '');

    expect(await readLastPublication(store, 'calculations')).toEqual({
      etag: last.etag,
      latest: last.latest,
      manifest: undefined,
      broken: expect.stringContaining('a manifest'),
    });
  });

  test('is broken if latest.json cannot be read as such, and can still be replaced', async () => {
    const store = createMemoryStore();
    await store.put('calculations/latest.json', Buffer.from('not json'));

    expect(await readLastPublication(store, 'calculations')).toEqual({
      etag: expect.any(String),
      latest: undefined,
      manifest: undefined,
      broken: expect.stringContaining('calculations/latest.json'),
    });
  });

  test('is not known if the store fails', async () => {
    const { store } = await published();
    const failing: Store = {
      ...store,
      async *list() {
        yield* [];
        throw new Error('no store');
      },
    };

    await expect(readLastPublication(failing, 'calculations')).rejects.toThrow('no store');
  });
});

describe('the damaged part of a run', () => {
  const twoParts = async () => {
    const store = createMemoryStore();
    const { parts } = await storeRun(store, 'run', LINES, { partRecords: 1 });
    return { store, parts };
  };

  test('is none if all are sound', async () => {
    const { store, parts } = await twoParts();

    expect(await damagedPart(store, 'calculations', parts)).toBeUndefined();
  });

  test('is the first with other bytes', async () => {
    const { store, parts } = await twoParts();
    const second = parts[1]?.key ?? '';
    await store.put(second, Buffer.from('other'));

    expect(await damagedPart(store, 'calculations', parts)).toContain(second);
  });

  test('is not known if reading was aborted', async () => {
    const { store, parts } = await twoParts();
    const signal = AbortSignal.abort(new Error('enough'));

    await expect(damagedPart(store, 'calculations', parts, signal)).rejects.toThrow('enough');
  });
});
