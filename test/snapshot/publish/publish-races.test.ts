import fc from 'fast-check';
import { expect, test } from 'vitest';
import { publishedRuns } from '../../../lib/snapshot/changes/published-runs.ts';
import { planPrune } from '../../../lib/snapshot/history/plan-prune.ts';
import { pruneRuns } from '../../../lib/snapshot/history/prune-runs.ts';
import { withdrawLeft } from '../../../lib/snapshot/history/withdraw-left.ts';
import {
  isManifestKey,
  latestKey,
  MANIFEST_NAME,
  PRUNED_NAME,
  publishedFolder,
  WITHDRAWN_NAME,
  workFolder,
} from '../../../lib/snapshot/keys.ts';
import { readLatest } from '../../../lib/snapshot/manifest.ts';
import { readLastPublication } from '../../../lib/snapshot/publish/last-publication.ts';
import { hasManifest } from '../../../lib/snapshot/publish/manifest-key.ts';
import type { Run } from '../../../lib/snapshot/run-id.ts';
import type { PutCondition, PutResult, Store } from '../../../lib/store/store.ts';
import { scaled, scaledTimeout } from '../../scale.ts';
import { beforeEvery, beforeFirst } from '../../store/before.ts';
import { storeOfEach } from '../../store/store-of-each.ts';
import { killedAt } from '../../tables/make/killed-at.ts';
import { disagreements, leftovers } from './every-reader.ts';
import { monday, publishFinished, tuesday, wednesday } from './finished-run.ts';

const store = storeOfEach();

const publish = (run: Run, to: Store = store, force = false) =>
  publishFinished(store, run, { store: to, differences: { records: 1 }, force });

const keysFrom = (prefix: string) => [...store.objects.keys()].filter((key) => key.startsWith(prefix));

type Move = (put: () => Promise<PutResult>, condition: PutCondition | undefined) => Promise<PutResult>;

/** A store in which moves of `latest.json` go this way. */
const moving = (move: Move): Store => ({
  ...store,
  put: (key, body, options) =>
    key === latestKey('calculations')
      ? move(() => store.put(key, body, options), options?.condition)
      : store.put(key, body, options),
});

test('a publisher that loses 20 races in a row gives up, and leaves no manifest', async () => {
  let moves = 0;
  const losing = moving(async () => {
    moves += 1;
    return { kind: 'condition-failed' };
  });

  await expect(publish(monday, losing)).rejects.toThrow(
    'calculations/latest.json was moved by other publishers 20 times in a row; nothing was published',
  );

  expect(moves).toBe(20);
  expect(await publishedRuns(store, 'calculations')).toEqual([]);
});

test('latest.json is moved only if it is as it was read: absent at first, then with its etag', async () => {
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

test('a run that a prune is removing is not published, and neither manifest nor changes of it stay', async () => {
  await publish(monday);
  await store.put(`${publishedFolder('calculations', tuesday)}${PRUNED_NAME}`, Buffer.from('{}'));

  await expect(publish(tuesday)).rejects.toThrow('is being removed by platform-sync prune');

  expect(await hasManifest(store, 'calculations', tuesday)).toBe(false);
  expect(keysFrom('changes/')).toEqual([]);
  expect((await readLatest(store, 'calculations'))?.run).toBe(monday.id);
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

test('a store that fails while runs are compared says nothing of their parts, so none is read again', async () => {
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

test('a run whose comparison misses a part of a run that was pruned meanwhile, after a later one, is superseded', async () => {
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
  'a run whose own parts were pruned, %s, after a later one, is superseded',
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

test('a name that is withdrawn just before a manifest is stored under it is left for another', async () => {
  const folder = publishedFolder('calculations', monday);
  const meanwhile = beforeFirst(
    store,
    'put',
    (key) => key === `${folder}${MANIFEST_NAME}`,
    () => store.put(`${folder}${WITHDRAWN_NAME}`, Buffer.from('{}')),
  );

  expect((await publish(monday, meanwhile)).key).toMatch(/_manifest-[0-9a-f]{8}\.json$/);
  expect(keysFrom(folder).filter(isManifestKey)).toHaveLength(1);
});

test('parts that a killed publisher had copied are copied again if a prune removes them meanwhile', async () => {
  await publish(monday);
  const killed = moving(() => Promise.reject(new Error('killed')));
  await expect(publish(tuesday, killed)).rejects.toThrow('killed');
  const folder = publishedFolder('calculations', tuesday);
  const meanwhile = beforeFirst(
    store,
    'put',
    (key) => isManifestKey(key) && key.startsWith(folder),
    async () => {
      for await (const { key } of store.list(`${folder}part-`)) await store.delete(key);
    },
  );

  expect((await publish(tuesday, meanwhile)).kind).toBe('published');
  expect((await readLastPublication(store, 'calculations')).broken).toBeUndefined();
});

test('a run whose own part is missing is not published, whether or not another one is', async () => {
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

test('what is published is not broken if the store fails', async () => {
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

/** Prunes all but the newest runs, by a plan of what is there now. */
async function prune(to: Store, keep: number, nowMs = LONG_AFTER) {
  const rule = { kind: 'keep', keep } as const;
  const plan = await planPrune({ store: to, place: 'calculations', rule, nowMs });
  const { signal } = new AbortController();
  const now = () => nowMs;
  await pruneRuns({
    ...plan,
    store: to,
    now,
    signal,
    removePartition: undefined,
    onRemoved: () => undefined,
  });
}

test('a prune whose delete of a left manifest comes late does not hit that of the same run, published meanwhile', async () => {
  await publish(monday);
  const [atDelete, published] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow = beforeFirst(store, 'delete', isManifestKey, () => {
    atDelete.resolve();
    return published.promise;
  });
  let pruned: Promise<void> | undefined;
  const meanwhile = beforeFirst(
    store,
    'put',
    (key) => key === latestKey('calculations'),
    () => {
      pruned = withdrawLeft({ store: slow, place: 'calculations', signal: new AbortController().signal });
      return atDelete.promise;
    },
  );

  const publication = await publish(tuesday, meanwhile);
  published.resolve();
  await pruned;

  expect(publication.kind).toBe('published');
  expect((await readLastPublication(store, 'calculations')).broken).toBeUndefined();
});

/** After how many operations of the store it dies, before or after that one; mostly never. */
const death = fc.tuple(fc.integer({ min: 1, max: 60 }), fc.constantFrom('before', 'after'));

test(
  'whatever the order of what two publishers of a run, one of the next and two prunes do, and wherever they die, what is published is whole',
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

          const ended = await scheduler.waitFor(Promise.allSettled(all));
          // No longer is a prune that died believed to be at work.
          const later = LONG_AFTER + 5 * 60_000;
          await prune(store, keep, later);
          for (const run of [tuesday, wednesday]) await publish(run);
          await prune(store, keep, later);

          const known = /is being removed by|killed|expected a part/;
          for (const each of ended)
            if (each.status === 'rejected') expect(String(each.reason)).toMatch(known);
          const listed = (await publishedRuns(store, 'calculations')).map(({ run }) => run);
          if (keep === 1) expect(listed).toEqual([wednesday.id]);
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
