import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { openStoredCache, SEGMENTS_FOLDER } from '../../../../lib/jobs/texts/cache/stored-cache.ts';
import type { Store } from '../../../../lib/store/store.ts';
import type { Row, Table } from '../../../../lib/table/table.ts';
import { createMemoryStore, type MemoryStore } from '../../../store/memory-store.ts';

let tokens = 0;

/** Puts a row over whatever is there. */
async function put(table: Table, name: string, row: Row): Promise<void> {
  tokens += 1;
  const expected = (await table.get(keyOf(name)))?.token ?? null;
  await table.put(keyOf(name), row, { expected, token: `token ${tokens}` });
}

async function remove(table: Table, name: string): Promise<void> {
  await table.delete(keyOf(name), (await table.get(keyOf(name)))?.token ?? '');
}

const keyOf = (name: string) => ({ partition: `score#${name}`, sort: '-' });

const scored = { state: 'SCORED' };

/** The rows that are in segments: a line each, by segment. */
const segmentsIn = ({ objects }: MemoryStore) =>
  [...objects.entries()]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, body]) => gunzipSync(body).toString().split('\n').slice(0, -1).map(nameOfLine));

const nameOfLine = (line: string) => JSON.parse(line).partition.slice('score#'.length);

/** What another process finds. */
const foundBy = async (store: Store, name: string) =>
  (await (await openStoredCache(store)).table.get(keyOf(name)))?.row;

/** A store that lists what is deleted and read. */
function watched(store: Store) {
  const [deleted, read]: [string[], string[]] = [[], []];
  const listed: Store = {
    ...store,
    delete(key, ...given) {
      deleted.push(key);
      return store.delete(key, ...given);
    },
    get(key, ...given) {
      read.push(key);
      return store.get(key, ...given);
    },
  };
  return { store: listed, deleted, read };
}

/** Stores a segment of these lines, as they are. */
async function putSegment(store: Store, number: number, ...lines: readonly string[]): Promise<string> {
  const key = `${SEGMENTS_FOLDER}segment-${String(number).padStart(7, '0')}-000000000000.ndjson.gz`;
  await store.put(key, gzipSync(lines.map((line) => `${line}\n`).join('')));
  return key;
}

const lineOf = (name: string, row: unknown = scored) => JSON.stringify({ ...keyOf(name), row });

describe('a row', () => {
  test('of a text waits until there are fifty', async () => {
    const store = createMemoryStore();
    const { table } = await openStoredCache(store);
    for (let text = 1; text < 50; text += 1) await put(table, `${text}`, scored);
    expect(segmentsIn(store)).toEqual([]);

    await put(table, '50', { state: 'FREE', sends: 1 });

    expect(segmentsIn(store).map((rows) => rows.length)).toEqual([50]);
  });

  test.each([
    ['of a chunk that has ended', { state: 'ended' }],
    ['that is a header', { chunks: 1 }],
  ])('%s is stored at once', async (_, row) => {
    const store = createMemoryStore();
    const { table } = await openStoredCache(store);

    await put(table, 'a', row);

    expect(await foundBy(store, 'a')).toEqual(row);
  });

  test.each(['open', 'SENT'])('that is %s is never stored', async (state) => {
    const store = createMemoryStore();
    const { table, flush } = await openStoredCache(store);

    await put(table, 'a', { state });
    await flush();

    expect(segmentsIn(store)).toEqual([]);
  });

  test('whose write was refused is not stored', async () => {
    const store = createMemoryStore();
    const { table, flush } = await openStoredCache(store);

    await table.put(keyOf('a'), scored, { expected: 'other', token: 'mine' });
    await flush();

    expect(segmentsIn(store)).toEqual([]);
  });

  test('that was deleted before it was stored is never stored', async () => {
    const store = createMemoryStore();
    const { table, flush } = await openStoredCache(store);

    await put(table, 'a', scored);
    await remove(table, 'a');
    await flush();

    expect(segmentsIn(store)).toEqual([]);
  });

  test('that changes while it is stored is stored again', async () => {
    const memory = createMemoryStore();
    let change: (() => Promise<void>) | undefined;
    const store: Store = {
      ...memory,
      async put(...given) {
        await change?.();
        return memory.put(...given);
      },
    };
    const { table, flush } = await openStoredCache(store);
    await put(table, 'a', { state: 'FREE' });
    change = () => {
      change = undefined;
      return put(table, 'a', scored);
    };
    await flush();

    await flush();

    expect(await foundBy(memory, 'a')).toEqual(scored);
  });
});

describe('segments', () => {
  test('are numbered on, also by the next process, and the latest row counts', async () => {
    const store = createMemoryStore();
    const first = await openStoredCache(store);
    await put(first.table, 'a', { state: 'FREE', sends: 1 });
    await first.flush();
    await put(first.table, 'b', scored);
    await first.flush();

    const next = await openStoredCache(store);
    await put(next.table, 'a', scored);
    await next.flush();

    expect([...store.objects.keys()].sort()).toEqual(
      [0, 1, 2].map((number) =>
        expect.stringMatching(
          new RegExp(`^${SEGMENTS_FOLDER}segment-000000${number}-[0-9a-f]{12}.ndjson.gz$`),
        ),
      ),
    );
    expect(await foundBy(store, 'a')).toEqual(scored);
  });

  test('are numbered on after the highest, and one without a number does not count', async () => {
    const store = createMemoryStore();
    await putSegment(store, 17, lineOf('a'));
    await store.put(`${SEGMENTS_FOLDER}zzz.ndjson.gz`, gzipSync(`${lineOf('b')}\n`));
    const { table, flush } = await openStoredCache(store);

    await put(table, 'c', scored);
    await flush();

    expect([...store.objects.keys()]).toContainEqual(expect.stringContaining('segment-0000018-'));
  });

  test('are read once each, however many', async () => {
    const memory = createMemoryStore();
    const keys = await Promise.all(
      Array.from({ length: 17 }, (_, number) => putSegment(memory, number, lineOf(`${number}`))),
    );
    const { store, read } = watched(memory);

    const { table } = await openStoredCache(store);

    expect(read).toEqual(keys);
    expect(await table.get(keyOf('16'))).toMatchObject({ row: scored });
  });

  test('none are read if there are none', async () => {
    const { store, read } = watched(createMemoryStore());

    await openStoredCache(store);

    expect(read).toEqual([]);
  });

  test('that another process has replaced since they were listed hold nothing', async () => {
    const memory = createMemoryStore();
    const gone = await putSegment(memory, 0, lineOf('a'));
    await putSegment(memory, 1, lineOf('b'));
    const store: Store = {
      ...memory,
      get: async (key, ...given) => (key === gone ? undefined : memory.get(key, ...given)),
    };

    expect(await foundBy(store, 'a')).toBeUndefined();
    expect(await foundBy(store, 'b')).toEqual(scored);
  });

  test.each([
    ['with a row that is no object', lineOf('a', 'secret')],
    ['with a row that is null', lineOf('a', null)],
    ['with a line that is no JSON', '{"secret'],
    ['that unpacks to more than 64 MB', `${lineOf('a')}${' '.repeat(64 * 1024 * 1024)}`],
  ])('%s are refused by name, without what they hold', async (_, line) => {
    const store = createMemoryStore();
    const key = await putSegment(store, 0, line);

    const opened = openStoredCache(store);

    await expect(opened).rejects.toMatchObject({ name: 'StoredObjectError' });
    await expect(opened).rejects.toThrow(`${key} in memory is not what platform-sync writes there`);
  });
});

describe('a row that is deleted', () => {
  test('is removed from its segment, which is written again without it', async () => {
    const { store, deleted } = watched(createMemoryStore());
    const first = await putSegment(store, 0, lineOf('a'), lineOf('b'), lineOf('c'));
    const { table, flush } = await openStoredCache(store);

    await remove(table, 'a');
    await flush();
    await remove(table, 'b');
    await flush();

    const second = expect.stringContaining('segment-0000000-');
    expect(deleted).toEqual([first, second]);
    expect(new Set(deleted).size).toBe(2);
    expect(await foundBy(store, 'b')).toBeUndefined();
    expect(await foundBy(store, 'c')).toEqual(scored);
  });

  test('leaves no empty segment', async () => {
    const store = createMemoryStore();
    await putSegment(store, 0, lineOf('a'));
    const { table, flush } = await openStoredCache(store);

    await remove(table, 'a');
    await flush();

    expect(segmentsIn(store)).toEqual([]);
  });

  test('that was in no segment deletes none', async () => {
    const { store, deleted } = watched(createMemoryStore());
    const { table, flush } = await openStoredCache(store);
    await put(table, 'a', { state: 'SENT' });

    await remove(table, 'a');
    await flush();

    expect(deleted).toEqual([]);
  });

  test('and stored again stays, and is removed from its new segment only', async () => {
    const { store, deleted } = watched(createMemoryStore());
    const first = await putSegment(store, 0, lineOf('a'));
    const { table, flush } = await openStoredCache(store);
    await remove(table, 'a');
    await flush();
    await put(table, 'a', scored);
    await flush();
    await flush();
    expect(await foundBy(store, 'a')).toEqual(scored);

    await remove(table, 'a');
    await flush();

    expect(deleted).toEqual([first, expect.stringContaining('segment-0000001-')]);
  });

  test('stays if the deletion was refused', async () => {
    const store = createMemoryStore();
    await putSegment(store, 0, lineOf('a'));
    const { table, flush } = await openStoredCache(store);

    await table.delete(keyOf('a'), 'other');
    await flush();

    expect(await foundBy(store, 'a')).toEqual(scored);
  });
});
