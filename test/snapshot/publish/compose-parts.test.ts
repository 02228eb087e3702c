import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { storeFrames } from '../../../lib/snapshot/frames/frame.ts';
import { packFrame } from '../../../lib/snapshot/frames/frame-codec.ts';
import type { Part } from '../../../lib/snapshot/manifest.ts';
import { composeParts, type PartsToCompose } from '../../../lib/snapshot/publish/compose-parts.ts';
import type { Store } from '../../../lib/store/store.ts';
import { createMemoryStore } from '../../store/memory-store.ts';
import { type FrameOf, frameOf, storePart, WORK } from './work-parts.ts';

const FOLDER = 'calculations/dt=2026-11-17/run=20261117T090000Z-bbbbbb/';

/** Composes everything, storing each part before the next is composed, and reads what was stored. */
async function composed(
  store: Store,
  parts: readonly Part[],
  from?: Pick<PartsToCompose, 'from' | 'index' | 'series'>,
) {
  const found = [];
  for await (const { part, next, store: put } of composeParts({
    store,
    parts,
    folder: FOLDER,
    series: 1,
    ...from,
  })) {
    await put();
    const body = (await store.get(part.key))?.body ?? Buffer.alloc(0);
    found.push({ part, next, body });
  }
  return found;
}

const framesOf = async (...frames: readonly (readonly number[])[]) =>
  Buffer.concat(await Promise.all(frames.map(frameOf)));

async function stored(...parts: readonly (readonly FrameOf[])[]) {
  const store = createMemoryStore();
  return { store, parts: await Promise.all(parts.map((frames, number) => storePart(store, number, frames))) };
}

describe('whole frames', () => {
  test('are put together byte for byte, up to one that ends a part', async () => {
    const { store, parts } = await stored(
      [
        [[1, 2], 'frame'],
        [[3], 'part'],
      ],
      [[[4], 'size']],
    );

    const [one, two, ...more] = await composed(store, parts);

    expect(one?.body).toEqual(await framesOf([1, 2], [3]));
    expect(one?.part).toMatchObject({ records: 3, firstKey: '1', lastKey: '3' });
    expect(one?.next).toEqual({ part: 1, frame: 0 });
    expect(two?.body).toEqual(await framesOf([4]));
    expect(two?.part).toMatchObject({ records: 1, firstKey: '4', lastKey: '4' });
    expect(two?.next).toEqual({ part: 2, frame: 0 });
    expect(more).toEqual([]);
  });

  test('are described as they are stored, under a name with their number and sha256', async () => {
    const { store, parts } = await stored([[[1], 'part']], [[[2], 'part']]);

    const [, two] = await composed(store, parts);

    const sha256 = createHash('sha256')
      .update(await framesOf([2]))
      .digest('hex');
    expect(two?.part).toMatchObject({ sha256, bytes: two?.body.byteLength });
    expect(two?.part.key).toBe(`${FOLDER}part-00001-${sha256.slice(0, 12)}.ndjson.gz`);
  });

  test('are stored with their sha256, by which the store checks what arrives', async () => {
    const { store, parts } = await stored([[[1], 'part']]);
    const checked: unknown[] = [];
    const watched: Store = {
      ...store,
      put: async (key, body, options) => {
        checked.push(options?.sha256);
        return store.put(key, body, options);
      },
    };

    const [one] = await composed(watched, parts);

    expect(checked).toEqual([one?.part.sha256]);
  });

  test('of one part under work/ can go into several, and composing resumes between them', async () => {
    const { store, parts } = await stored([
      [[1], 'frame'],
      [[2], 'part'],
      [[3], 'frame'],
    ]);
    const [one, two] = await composed(store, parts);

    const resumed = await composed(store, parts, { from: { part: 0, frame: 2 }, index: 1, series: 1 });

    expect(one?.next).toEqual({ part: 0, frame: 2 });
    expect(two?.body).toEqual(await framesOf([3]));
    expect(resumed).toEqual([two]);
  });

  test('end a part once they are 16 MB, compressed', async () => {
    const store = createMemoryStore();
    const sizes = [8_000_000, 7_999_999, 1, 1];
    const body = Buffer.alloc(16_000_001);
    const key = `${WORK}part-00000-000000000000.ndjson.gz`;
    await store.put(key, body);
    const frame = { records: 1, firstKey: '1', lastKey: '1', end: 'frame' as const };
    await storeFrames(
      store,
      key,
      sizes.map((bytes) => ({ ...frame, bytes })),
    );
    const sha256 = createHash('sha256').update(body).digest('hex');

    const found = await composed(store, [
      { key, bytes: 16_000_001, records: 4, sha256, firstKey: '1', lastKey: '1' },
    ]);

    expect(found.map(({ part: { bytes, records } }) => ({ bytes, records }))).toEqual([
      { bytes: 16_000_000, records: 3 },
      { bytes: 1, records: 1 },
    ]);
  });
});

describe('a frame that was cut when its part was closed', () => {
  test.each<[string, readonly (readonly FrameOf[])[], readonly (readonly number[])[]]>([
    ['is packed again with its rest', [[[[1], 'closed']], [[[2], 'frame']]], [[1, 2]]],
    ['however often it was cut', [[[[1], 'closed']], [[[2], 'closed']], [[[3], 'frame']]], [[1, 2, 3]]],
    [
      'and the frames around it stay as they are',
      [
        [
          [[1], 'frame'],
          [[2], 'closed'],
        ],
        [
          [[3], 'frame'],
          [[4], 'frame'],
        ],
      ],
      [[1], [2, 3], [4]],
    ],
    ['stays as it is if nothing follows', [[[[1], 'closed']]], [[1]]],
    ['and is packed again if its last piece was cut too', [[[[1], 'closed']], [[[2], 'closed']]], [[1, 2]]],
    [
      'and is not yet whole when a frame ends by its size',
      [
        [[[1], 'closed']],
        [
          [[2], 'size'],
          [[3], 'frame'],
          [[4], 'frame'],
        ],
      ],
      [[1, 2, 3], [4]],
    ],
  ])('%s', async (_, frames, expected) => {
    const { store, parts } = await stored(...frames);

    const [one, ...more] = await composed(store, parts);

    expect(one?.body).toEqual(await framesOf(...expected));
    expect(more).toEqual([]);
  });

  test('ends a part with its rest', async () => {
    const { store, parts } = await stored(
      [
        [[1], 'frame'],
        [[2], 'closed'],
      ],
      [
        [[3], 'part'],
        [[4], 'frame'],
      ],
    );

    const [one, two] = await composed(store, parts);

    expect(one?.body).toEqual(await framesOf([1], [2, 3]));
    expect(one?.next).toEqual({ part: 1, frame: 1 });
    expect(two?.body).toEqual(await framesOf([4]));
  });

  test('is ended after the line with which it has 4 MB', async () => {
    const store = createMemoryStore();
    const line = `${'x'.repeat(999_999)}\n`;
    const three = await packFrame(Buffer.from(line.repeat(3)), 'gzip');
    const parts = await Promise.all(
      (['closed', 'frame'] as const).map(async (end, number) => {
        const part = await storePart(store, number, [[[1, 2, 3], end]]);
        const sha256 = createHash('sha256').update(three).digest('hex');
        await store.put(part.key, three);
        const frame = { bytes: three.byteLength, records: 3, firstKey: '1', lastKey: '3', end };
        await storeFrames(store, part.key, [frame]);
        return { ...part, bytes: three.byteLength, sha256 };
      }),
    );

    const [one] = await composed(store, parts);

    const expected = await Promise.all(
      [4, 2].map((lines) => packFrame(Buffer.from(line.repeat(lines)), 'gzip')),
    );
    expect(one?.body.equals(Buffer.concat(expected))).toBe(true);
  });
});

test('resumes in the middle of a part, and takes all of the next', async () => {
  const { store, parts } = await stored(
    [
      [[1], 'part'],
      [[2], 'frame'],
    ],
    [
      [[3], 'frame'],
      [[4], 'frame'],
    ],
  );

  const found = await composed(store, parts, { from: { part: 0, frame: 1 }, index: 1, series: 1 });

  expect(found.map(({ body }) => body)).toEqual([await framesOf([2], [3], [4])]);
});

test('a run without parts is published without any', async () => {
  expect(await composed(createMemoryStore(), [])).toEqual([]);
});

test('names the series that the parts are of', async () => {
  const { store, parts } = await stored([[[1], 'part']], [[[2], 'part']]);

  const found = await composed(store, parts, { series: 2 });

  expect(found.map(({ part }) => part.key)).toEqual([
    expect.stringMatching(/part-00000-[0-9a-f]{12}-2\.ndjson\.gz$/),
    expect.stringMatching(/part-00001-[0-9a-f]{12}-2\.ndjson\.gz$/),
  ]);
});

test('the parts that are composed while others are stored have memory of their own', async () => {
  const { store, parts } = await stored([[[1], 'part']], [[[2], 'part']], [[[3], 'part']]);
  const options = { store, parts, folder: FOLDER, series: 1 };

  const all = await Array.fromAsync(composeParts(options));
  for (const { store: put } of all) await put();

  const bodies = await Promise.all(all.map(async ({ part }) => (await store.get(part.key))?.body));
  expect(bodies).toEqual([await framesOf([1]), await framesOf([2]), await framesOf([3])]);
});

describe('a part under work/ is refused', () => {
  test.each<[string, (part: Part, store: Store) => Promise<Part>, string]>([
    [
      'that is gone',
      async (part, store) => {
        await store.delete(part.key);
        return part;
      },
      'a part',
    ],
    [
      'whose bytes are others',
      async (part, store) => {
        await store.put(part.key, Buffer.alloc(part.bytes));
        return part;
      },
      'expected the sha256',
    ],
    [
      'with more bytes than it should have',
      async (part, store) => {
        await store.put(part.key, Buffer.alloc(part.bytes + 1));
        return part;
      },
      'got more',
    ],
    [
      'whose frames have other records',
      async (part) => ({ ...part, records: part.records + 1 }),
      'records in all, got',
    ],
    [
      'whose frames have other bytes',
      async (part) => ({ ...part, bytes: part.bytes + 1 }),
      'expected frames of',
    ],
  ])('%s', async (_, broken, message) => {
    const { store, parts } = await stored([[[1], 'part']]);
    const [part] = parts;
    if (part === undefined) throw new Error('expected a part');

    await expect(composed(store, [await broken(part, store)])).rejects.toThrow(message);
  });

  test.each([
    [256 * 1024 * 1024 + 1, 'at most 268435456 bytes, got 268435457'],
    [256 * 1024 * 1024, 'expected the sha256'],
  ])('of %i bytes', async (bytes, message) => {
    const { store, parts } = await stored([[[1], 'part']]);
    const [part] = parts;
    if (part === undefined) throw new Error('expected a part');
    await storeFrames(store, part.key, [{ bytes, records: 1, firstKey: '1', lastKey: '1', end: 'part' }]);

    await expect(composed(store, [{ ...part, bytes, sha256: 'other' }])).rejects.toThrow(message);
  });
});
