import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Store } from '../../../lib/store/store.ts';
import { endedDays, makeDay, type ResultsToMake } from '../../../lib/tables/make/make-results.ts';
import { scaled, scaledTimeout } from '../../scale.ts';
import { beforeFirst } from '../../store/before.ts';
import { createMemoryStore, type MemoryStore } from '../../store/memory-store.ts';
import { atEachListed, atEachOperation } from './killed-at.ts';
import { queryFolder } from './parquet-of-folder.ts';

const DAY = { type: 'run-function', day: '2026-11-21' };
const FOLDER = 'parquet/results/type=run-function/dt=2026-11-21/';
const NOON = Date.UTC(2026, 10, 22, 12);

const optionsFor = (store: Store, given: Partial<ResultsToMake> = {}): ResultsToMake => ({
  store,
  resultsDays: 90,
  now: () => NOON,
  isOver: () => false,
  isDry: false,
  ...given,
});

const resultOf = (id: string, rest = '') =>
  `{"version":1,"id":"${id}","type":"run-function","status":"done","attempts":1,"startedAt":"2026-11-21T10:00:00.000Z","finishedAt":"2026-11-21T10:00:01.000Z","sender":null${rest}}\n`;

const keyOf = (id: string, day = DAY.day) => `results/run-function/dt=${day}/${id}.json`;

async function storeWith(ids: readonly string[]): Promise<MemoryStore> {
  const store = createMemoryStore();
  for (const id of ids) await store.put(keyOf(id), Buffer.from(resultOf(id)));
  return store;
}

const SOME_CHANGES = [
  { id: 4, change: 'put' as const },
  { id: 5, change: 'delete' as const },
  { id: 12, change: 'put' as const },
];

/** Files of three results. */
const FEW = { results: 3, bytes: 1_000_000 };

const idsIn = async (store: Store) =>
  (await queryFolder(store, FOLDER, 'SELECT id FROM parquet ORDER BY id')).map(({ id }) => id);

const many = (count: number) =>
  Array.from({ length: count }, (_, at) => `job-${String(at).padStart(3, '0')}`);

describe('a day of results', () => {
  test('has a row each, with the response as its JSON, exactly as received', async () => {
    const store = await storeWith([]);
    const response = '{"n": 123456789012345678901234567890, "text": "\\u00fc", "list": [1.0, 2]}';
    const error = '{"kind":"status","status":500}';
    await store.put(keyOf('a'), Buffer.from(resultOf('a', `,"response":${response}`)));
    await store.put(keyOf('b'), Buffer.from(resultOf('b', `,"note":"by hand","error":${error},"new":[1]`)));

    const made = await makeDay(DAY, optionsFor(store));

    expect(made).toMatchObject({ files: 1, records: 2, other: 1, isLeft: false });
    const rows = await queryFolder(store, FOLDER, 'SELECT * FROM parquet ORDER BY id');
    const times = { startedat: '2026-11-21T10:00:00.000Z', finishedat: '2026-11-21T10:00:01.000Z' };
    const done = {
      version: '1',
      type: 'run-function',
      status: 'done',
      attempts: '1',
      ...times,
      sender: null,
    };
    expect(rows).toEqual([
      { id: 'a', ...done, note: null, error: null, response, _other: null },
      { id: 'b', ...done, note: 'by hand', error, response: null, _other: '{"new":[1]}' },
    ]);
  });

  test('that is made again without a change writes nothing', async () => {
    const store = await storeWith(many(8));
    await makeDay(DAY, optionsFor(store, { most: FEW }));
    const before = new Map(store.objects);
    const put: Store['put'] = () => Promise.reject(new Error('put'));

    const made = await makeDay(DAY, optionsFor({ ...store, put }, { most: FEW }));

    expect(made).toMatchObject({ files: 0, isLeft: false });
    expect(store.objects).toEqual(before);
    expect([...before.keys()].filter((key) => key.endsWith('.parquet'))).toHaveLength(3);
  });

  test('in which a result changed, came or went has only its own file made again', async () => {
    const store = await storeWith(many(9));
    await makeDay(DAY, optionsFor(store, { most: FEW }));
    const untouched = store.objects.get(`${FOLDER}part-00000.parquet`);
    await store.put(keyOf('job-004'), Buffer.from(resultOf('job-004', ',"note":"later"')));
    await store.put(keyOf('job-004b'), Buffer.from(resultOf('job-004b')));
    await store.delete(keyOf('job-005'));

    const made = await makeDay(DAY, optionsFor(store, { most: FEW }));

    expect(made).toMatchObject({ files: 1, records: 3 });
    expect(store.objects.get(`${FOLDER}part-00000.parquet`)).toBe(untouched);
    expect(await idsIn(store)).toEqual([...many(9).filter((id) => id !== 'job-005'), 'job-004b'].sort());
    expect(await queryFolder(store, FOLDER, `SELECT note FROM parquet WHERE id = 'job-004'`)).toEqual([
      { note: 'later' },
    ]);
  });

  test('with a result that is not JSON is not made, and the result is named', async () => {
    const store = await storeWith(['a']);
    await store.put(keyOf('b'), Buffer.from('{"id":'));

    await expect(makeDay(DAY, optionsFor(store))).rejects.toThrow(`${keyOf('b')}: expected a record as JSON`);
  });

  test('stops when its time is over, and continues there', async () => {
    const store = await storeWith(many(9));
    const one = { most: FEW, isOver: () => true };

    const first = await makeDay(DAY, optionsFor(store, one));
    const second = await makeDay(DAY, optionsFor(store, one));
    const third = await makeDay(DAY, optionsFor(store, { most: FEW }));

    expect([first, second, third]).toMatchObject([
      { files: 1, records: 3, isLeft: true },
      { files: 1, records: 3, isLeft: true },
      { files: 1, records: 3, isLeft: false },
    ]);
    expect(await idsIn(store)).toEqual(many(9));
  });

  test('is only counted in a dry run', async () => {
    const store = await storeWith(many(9));
    const before = new Map(store.objects);

    expect(await makeDay(DAY, optionsFor(store, { most: FEW, isDry: true }))).toMatchObject({ files: 3 });
    expect(store.objects).toEqual(before);
  });

  test(
    'has each result once at any moment, whatever changes and wherever it is killed',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(
            fc.record({ id: fc.integer({ min: 0, max: 14 }), change: fc.constantFrom('put', 'delete') }),
            {
              maxLength: 6,
            },
          ),
          async (changes) => {
            const begin = async () => {
              const store = await storeWith(many(8));
              await makeDay(DAY, optionsFor(store, { most: FEW }));
              for (const { id, change } of changes) {
                const name = `job-${String(id).padStart(3, '0')}`;
                if (change === 'put')
                  await store.put(keyOf(name), Buffer.from(resultOf(name, ',"note":"2"')));
                else await store.delete(keyOf(name));
              }
              return store;
            };
            const work = (store: Store) => makeDay(DAY, optionsFor(store, { most: FEW }));

            await atEachOperation(begin, work, async (store) => {
              const between = await idsIn(store);
              expect(new Set(between).size).toBe(between.length);
              await work(store);
              const keys = await Array.fromAsync(store.list('results/'));
              expect(await idsIn(store)).toEqual(
                keys.map(({ key }) => key.slice(-'job-000.json'.length, -5)),
              );
            });
          },
        ),
        { numRuns: scaled(1, 20), examples: [[SOME_CHANGES]] },
      );
    },
    scaledTimeout(600_000),
  );

  test('of which a listing breaks off has each result once, and the next finishes', async () => {
    const begin = async () => {
      const store = await storeWith(many(4));
      await makeDay(DAY, optionsFor(store, { most: FEW }));
      await store.put(keyOf('job-004'), Buffer.from(resultOf('job-004')));
      return store;
    };
    const work = (store: Store) => makeDay(DAY, optionsFor(store, { most: FEW }));

    await atEachListed(begin, work, async (store, at) => {
      expect((await idsIn(store)).slice(0, 4), at).toEqual(many(4));
      await work(store);
      expect(await idsIn(store), at).toEqual(many(5));
    });
  });

  test('made by two at once is as if one had made it', async () => {
    const store = await storeWith(many(9));
    const options = optionsFor(store, { most: FEW });

    await Promise.all([makeDay(DAY, options), makeDay(DAY, options)]);

    expect(await idsIn(store)).toEqual(many(9));
    expect(await makeDay(DAY, options)).toMatchObject({ files: 0 });
  });

  test('is overtaken by nobody who read it earlier: whoever is behind looks again', async () => {
    const store = await storeWith(many(2));
    const slow = beforeFirst(
      store,
      'put',
      (key) => key.endsWith('.parquet'),
      async () => {
        await store.put(keyOf('job-000'), Buffer.from(resultOf('job-000', ',"note":"later"')));
        await makeDay(DAY, optionsFor(store));
      },
    );

    await makeDay(DAY, optionsFor(slow));

    expect(await queryFolder(store, FOLDER, 'SELECT count(note) AS notes FROM parquet')).toEqual([
      { notes: '1' },
    ]);
    expect(await makeDay(DAY, optionsFor(store))).toMatchObject({ files: 0 });
  });
});

test('days that have ended are made, but not those of which results may be gone', async () => {
  const store = await storeWith([]);
  for (const day of ['2026-11-22', '2026-11-21', '2026-11-20', '2026-08-25', '2026-08-24', 'x'])
    await store.put(keyOf('a', day), Buffer.from(resultOf('a')));
  await store.put('parquet/results/type=score/dt=2026-11-19/part-00000.parquet', Buffer.from('x'));

  expect((await endedDays(optionsFor(store))).map(({ type, day }) => `${type} ${day}`)).toEqual([
    'run-function 2026-11-21',
    'run-function 2026-11-20',
    'score 2026-11-19',
    'run-function 2026-08-25',
  ]);
});
