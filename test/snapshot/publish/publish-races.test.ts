import fc from 'fast-check';
import { expect, test } from 'vitest';
import { planPrune, pruneRuns } from '../../../lib/snapshot/history/prune.ts';
import {
  latestKey,
  MANIFEST_NAME,
  publishedFolder,
  type Run,
  workFolder,
} from '../../../lib/snapshot/keys.ts';
import { publishedRuns, readLatest } from '../../../lib/snapshot/manifest.ts';
import { readLastPublication } from '../../../lib/snapshot/publish/publish-parts.ts';
import type { PutCondition, PutResult, Store } from '../../../lib/store/store.ts';
import { scaled, scaledTimeout } from '../../scale.ts';
import { beforeEvery, beforeFirst } from '../../store/before.ts';
import { storeOfEach } from '../../store/store-of-each.ts';
import { killedAt } from '../../tables/build/killed-at.ts';
import { disagreements, leftovers } from './every-reader.ts';
import { monday, publishFinished, tuesday, wednesday } from './finished-run.ts';

const store = storeOfEach();

const publish = (run: Run, to: Store = store, force = false) =>
  publishFinished(store, run, { store: to, differences: { records: 1 }, force });

const keysFrom = (prefix: string) => [...store.objects.keys()].filter((key) => key.startsWith(prefix));

type Move = (put: () => Promise<PutResult>, condition: PutCondition | undefined) => Promise<PutResult>;

const moving = (move: Move): Store => ({
  ...store,
  put: (key, body, options) =>
    key === latestKey('calculations')
      ? move(() => store.put(key, body, options), options?.condition)
      : store.put(key, body, options),
});

test('a publisher that loses 20 races in a row gives up, and has published nothing', async () => {
  let moves = 0;
  const losing = moving(async () => {
    moves += 1;
    await store.put(latestKey('calculations'), Buffer.from(`{"run":"other ${moves}"}`));
    return { kind: 'condition-failed' };
  });

  await expect(publish(monday, losing, true)).rejects.toThrow(
    'calculations/latest.json was moved by other publishers 20 times in a row; nothing was published',
  );
  await store.delete(latestKey('calculations'));

  expect(moves).toBe(20);
  expect(await publishedRuns(store, 'calculations')).toEqual([]);
});

test('latest.json is moved only if it is unchanged since it was read: first absent, then with its etag', async () => {
  const conditions: (PutCondition | undefined)[] = [];
  const watched = moving((put, condition) => {
    conditions.push(condition);
    return put();
  });

  await publish(monday, watched);
  const etag = (await readLatest(store, 'calculations'))?.etag;
  await publish(tuesday, watched);

  expect(conditions).toEqual([{ ifAbsent: true }, { ifMatch: etag }]);
});

test('a run that a prune has removed is not published again', async () => {
  await publish(monday);
  await publish(tuesday);
  await prune(store, 1);

  await expect(publish(monday, store, true)).rejects.toThrow('was deleted by platform-sync prune');

  expect(keysFrom(publishedFolder('calculations', monday))).toEqual([]);
  expect(keysFrom(`changes/${publishedFolder('calculations', monday)}`)).toEqual([]);
  expect((await readLatest(store, 'calculations'))?.run).toBe(tuesday.id);
});

test('a publisher does not compare its run again because prune removes another run meanwhile', async () => {
  await publish(monday);
  await publish(tuesday);
  let compared = 0;
  const counting: Store = {
    ...store,
    putStream: (...given) => {
      compared += 1;
      return store.putStream(...given);
    },
  };
  const beside = beforeFirst(
    counting,
    'put',
    (key) => key === latestKey('calculations'),
    () => prune(store, 1),
  );

  expect((await publish(wednesday, beside)).kind).toBe('published');

  expect(compared).toBe(1);
  expect(await readLatest(store, 'calculations')).toMatchObject({ run: wednesday.id, removed: [monday.id] });
});

test('a publisher whose move gets no response, and is followed by another run, has published', async () => {
  await publish(monday);
  const silent = moving(async (put) => {
    await put();
    await publish(wednesday);
    return { kind: 'condition-failed' };
  });

  const { kind, manifest } = await publish(tuesday, silent);

  expect(kind).toBe('published');
  expect((await publishedRuns(store, 'calculations')).map(({ run }) => run)).toEqual(
    [wednesday, tuesday, monday].map(({ id }) => id),
  );
  expect(await store.get(manifest.changes?.key ?? '')).toBeDefined();
});

test('a publisher that loses a race leaves no changes', async () => {
  await publish(monday);
  const beaten = beforeFirst(
    store,
    'put',
    (key) => key === latestKey('calculations'),
    () => publish(wednesday),
  );

  expect((await publish(tuesday, beaten)).kind).toBe('superseded');

  expect(keysFrom(`changes/${publishedFolder('calculations', tuesday)}`)).toEqual([]);
});

test('if latest.json is deleted meanwhile, the run is published as the first one', async () => {
  await publish(monday);
  const deleted = beforeFirst(
    store,
    'put',
    (key) => key === latestKey('calculations'),
    () => store.delete(latestKey('calculations')),
  );

  const publication = await publish(tuesday, deleted);

  expect(publication).toMatchObject({ kind: 'published', manifest: { changes: null } });
});

test('a store that fails while runs are compared does not make parts count as damaged', async () => {
  const { manifest } = await publish(monday);
  const [part] = manifest.parts;
  let reads = 0;
  const failing = beforeEvery(store, 'stream', (key) => {
    if (key !== part?.key) return;
    reads += 1;
    throw new Error(`${key}: no connection`);
  });

  await expect(publish(tuesday, failing)).rejects.toThrow('no connection');

  expect(reads).toBe(1);
});

test('a run is superseded if, while it is compared, a later run is published and the run that it is compared with is pruned', async () => {
  const { manifest } = await publish(monday);
  const meanwhile = beforeFirst(
    store,
    'stream',
    () => true,
    async () => {
      await publish(wednesday);
      await store.delete(manifest.parts[0]?.key ?? '');
    },
  );

  expect(await publish(tuesday, meanwhile)).toMatchObject({
    kind: 'superseded',
    latest: { run: wednesday.id },
  });
});

test.each([
  ['before they are listed', 'put', `${workFolder('calculations', tuesday)}${MANIFEST_NAME}`],
  ['before they are copied', 'copy', workFolder('calculations', tuesday)],
] as const)(
  'a run is superseded if a later run is published, and its own parts are pruned %s',
  async (_, operation, prefix) => {
    await publish(monday);
    const meanwhile = beforeFirst(
      store,
      operation,
      (key) => key.startsWith(prefix),
      async () => {
        await publish(wednesday);
        for await (const { key } of store.list(workFolder('calculations', tuesday))) await store.delete(key);
      },
    );

    expect(await publish(tuesday, meanwhile)).toMatchObject({
      kind: 'superseded',
      latest: { run: wednesday.id },
    });
  },
);

test('a run that lacks a part is not published, even if another run is missing a part too', async () => {
  const missing = /part-00000-\w+\.ndjson\.gz: expected a part of \d+ bytes, got nothing$/;
  for (const run of [monday, tuesday]) {
    const lost = beforeFirst(
      store,
      'put',
      (key) => key === `${workFolder('calculations', run)}${MANIFEST_NAME}`,
      async () => {
        for await (const { key } of store.list(workFolder('calculations', run))) await store.delete(key);
      },
    );
    await expect(publish(run, lost)).rejects.toThrow(missing);
    await publish(run);
  }
});

test('the published run does not count as broken if the store fails', async () => {
  await publish(monday);
  const failing: Store = {
    ...store,
    list: async function* list() {
      yield* [];
      throw new Error('no store');
    },
  };

  await expect(readLastPublication(failing, 'calculations')).rejects.toThrow('no store');
});

const LONG_AFTER = Date.parse('2027-01-01T00:00:00Z');

async function prune(to: Store, keep: number) {
  const rule = { kind: 'keep', keep } as const;
  const plan = await planPrune({ store: to, place: 'calculations', rule, nowMs: LONG_AFTER });
  const { signal } = new AbortController();
  await pruneRuns({
    ...plan,
    store: to,
    signal,
    removePartition: undefined,
    onRemoved: () => undefined,
  });
}

test('a prune whose deletes arrive late, after another prune, affects no published run', async () => {
  await publish(monday);
  await publish(tuesday);
  const [atDelete, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow = beforeFirst(
    store,
    'delete',
    () => true,
    () => {
      atDelete.resolve();
      return goOn.promise;
    },
  );

  const late = prune(slow, 1);
  await atDelete.promise;
  await prune(store, 1);
  const again = publish(monday, store, true).catch((error: Error) => error.message);
  expect(await again).toContain('was deleted');
  await publish(wednesday);
  goOn.resolve();
  await late;

  expect((await readLastPublication(store, 'calculations')).broken).toBeUndefined();
  expect(await disagreements(store)).toEqual([]);
});

/** The operation of the store at which a process dies, and whether before or after it. Most processes end before that. */
const death = fc.tuple(fc.integer({ min: 1, max: 60 }), fc.constantFrom('before', 'after'));

test(
  'whatever the interleaving of publishers and prunes, and wherever they die, the published run is complete',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.tuple(death, death, death, death, death),
        fc.constantFrom(1, 9),
        async (scheduler, deaths, keep) => {
          store.objects.clear();
          await publish(monday);
          const inTurn = <T>(work: () => Promise<T>) => scheduler.schedule(Promise.resolve()).then(work);
          const to: Store = {
            ...store,
            get: (...given) => inTurn(() => store.get(...given)),
            put: (...given) => inTurn(() => store.put(...given)),
            putStream: (...given) => inTurn(() => store.putStream(...given)),
            copy: (...given) => inTurn(() => store.copy(...given)),
            delete: (...given) => inTurn(() => store.delete(...given)),
            list: async function* list(...given) {
              yield* await inTurn(() => Array.fromAsync(store.list(...given)));
            },
          };
          const [first, next, again, ...prunes] = deaths.map(
            ([last, when]) => killedAt(to, last, when).killed,
          );
          const all = [
            publish(tuesday, first),
            publish(wednesday, next),
            publish(tuesday, again, true),
            ...prunes.map((each) => prune(each, keep)),
          ];

          const known = /was deleted by|killed|expected a part/;
          const ended = await scheduler.waitFor(Promise.allSettled(all));
          for (let round = 0; round < 2; round += 1) {
            for (const run of [tuesday, wednesday])
              await publish(run).catch((error: Error) => expect(error.message).toMatch(known));
            await prune(store, keep);
          }

          for (const each of ended)
            if (each.status === 'rejected') expect(String(each.reason)).toMatch(known);
          const listed = (await publishedRuns(store, 'calculations')).map(({ run }) => run);
          if (keep === 1) expect(listed).toHaveLength(1);
          else expect(listed).toEqual(expect.arrayContaining([monday.id, wednesday.id]));
          expect(await disagreements(store)).toEqual([]);
          expect(await leftovers(store)).toEqual([]);
        },
      ),
      { numRuns: scaled(15, 3_000) },
    );
  },
  scaledTimeout(300_000),
);
