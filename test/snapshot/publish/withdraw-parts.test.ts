import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { isManifestKey } from '../../../lib/snapshot/keys.ts';
import { readLatest, readManifest } from '../../../lib/snapshot/manifest.ts';
import { type FinishedRun, publishRun } from '../../../lib/snapshot/publish/publish.ts';
import type { Run } from '../../../lib/snapshot/run-id.ts';
import { StoreError } from '../../../lib/store/error.ts';
import type { Store } from '../../../lib/store/store.ts';
import { sampled, scaled, scaledTimeout } from '../../scale.ts';
import { createMemoryStore, type MemoryStore } from '../../store/memory-store.ts';
import { finishedManifest } from '../published-manifest.ts';
import { storeWorkPart } from './finished-run.ts';

const sunday: Run = { id: '20261115T090000Z-999999', startedAt: '2026-11-15T09:00:00.000Z' };
const monday: Run = { id: '20261116T090000Z-aaaaaa', startedAt: '2026-11-16T09:00:00.000Z' };
const tuesday: Run = { id: '20261117T090000Z-bbbbbb', startedAt: '2026-11-17T09:00:00.000Z' };

let store: MemoryStore;
let warnings: string[];

beforeEach(() => {
  store = newStore();
  warnings = [];
});

/** A run of two parts in its work folder. */
async function finishedRun(run: Run, records: number): Promise<FinishedRun> {
  const parts = [];
  for (const [at, count] of [1, records - 1].entries())
    parts.push(await storeWorkPart(store, run, at, [`{"id":${at + 1},"name":"of ${run.id}"}`], count));
  return finishedManifest(run, { records, parts });
}

type Differences = { readonly to?: Store; readonly force?: boolean; readonly records?: number };

const publish = async (run: Run, { to = store, force = false, records = 2 }: Differences = {}) =>
  publishRun({
    store: to,
    source: 'calculations',
    run,
    finished: await finishedRun(run, records),
    force,
    now: () => Date.parse('2026-11-21T09:00:00Z'),
    warn: (what, reason) => warnings.push(`${what}: ${reason.message}`),
  });

let afterSunday: ReadonlyMap<string, Buffer> | undefined;

/** Publishes the run of Sunday in a new store; from the second time on, puts there what the first time has. */
async function publishSunday(): Promise<void> {
  for (const [key, body] of afterSunday ?? []) store.objects.set(key, body);
  if (afterSunday !== undefined) return;
  await publish(sunday);
  afterSunday = new Map(store.objects);
}

const keysOf = async ({ id }: Run) =>
  (await Array.fromAsync(store.list('calculations/')))
    .map(({ key }) => key)
    .filter((key) => key.includes(`run=${id}/`));

const partsOf = async (run: Run) => (await keysOf(run)).filter((key) => key.includes('/part-'));

/** A store whose writes wait, at their nth, until something has happened: one such thing after another. */
function pausedAt(happens: Readonly<Record<number, () => Promise<unknown>>>) {
  let writes = 0;
  let before: Promise<unknown> = Promise.resolve();
  const pass = async () => {
    writes += 1;
    const next = happens[writes];
    if (next === undefined) return;
    before = before.then(next);
    await before;
  };
  const paused: Store = {
    ...store,
    put: async (...put) => pass().then(() => store.put(...put)),
    copy: async (...copy) => pass().then(() => store.copy(...copy)),
    delete: async (...deleted) => pass().then(() => store.delete(...deleted)),
  };
  return { paused, writes: () => writes };
}

/** A store in which something happens just before `latest.json` is moved for the first time. */
function beforeTheMove(happens: () => Promise<unknown>): Store {
  let pending = true;
  return {
    ...store,
    put: async (key, ...put) => {
      const isFirst = pending && key === 'calculations/latest.json';
      if (isFirst) pending = false;
      if (isFirst) await happens();
      return store.put(key, ...put);
    },
  };
}

const newStore = createMemoryStore;

/** What `latest.json` names is whole, and a glob finds its parts and no others. */
async function expectWhole(run: Run) {
  const latest = await readLatest(store, 'calculations');
  expect(latest?.run).toBe(run.id);
  const { parts } = await readManifest(store, latest?.manifest ?? '');
  expect(parts).toHaveLength(2);
  expect(await partsOf(run)).toEqual(parts.map(({ key }) => key));
}

test('a run that is superseded after its parts were stored leaves none in its folder', async () => {
  const publication = await publish(monday, { to: beforeTheMove(() => publish(tuesday)) });

  expect(publication.kind).toBe('superseded');
  expect(await keysOf(monday)).toEqual([]);
  await expectWhole(tuesday);
});

test('a run that is refused after its parts were stored leaves none in its folder', async () => {
  const to = beforeTheMove(() => publish(monday, { records: 100 }));

  const publication = await publish(tuesday, { to });

  expect(publication.kind).toBe('refused');
  expect(await keysOf(tuesday)).toEqual([]);
  await expectWhole(monday);
});

test('it can be published by force afterwards', async () => {
  await publish(monday, { to: beforeTheMove(() => publish(tuesday)) });

  const publication = await publish(monday, { force: true });

  expect(publication.kind).toBe('published');
  await expectWhole(monday);
});

test('a published run that is older than the last keeps its parts when it is published again', async () => {
  await publish(monday);
  await publish(tuesday);
  const before = await keysOf(monday);

  const again = await publish(monday);

  expect(again.kind).toBe('superseded');
  expect(await keysOf(monday)).toEqual(before);
});

test('what is left of the last published run stays if its manifest was lost', async () => {
  await publish(monday);
  await store.delete((await readLatest(store, 'calculations'))?.manifest ?? '');

  const again = await publish(monday);

  expect(again.kind).toBe('refused');
  expect(await partsOf(monday)).toHaveLength(2);
});

test('a withdrawal that was killed is finished by the next publication of the run', async () => {
  const to = beforeTheMove(() => publish(tuesday));
  const killed: Store = {
    ...to,
    delete: async (key) => {
      if (key.includes('part-00001')) throw new Error('killed');
      await store.delete(key);
    },
  };
  await expect(publish(monday, { to: killed })).rejects.toThrow('killed');
  const left = await partsOf(monday);

  await publish(monday, { force: true });

  expect(left).toHaveLength(1);
  await expectWhole(monday);
});

test('without the right to delete, the run ends as it should, with a warning', async () => {
  const to = beforeTheMove(() => publish(tuesday));
  const denied: Store = {
    ...to,
    delete: async (key) => {
      if (key.includes('/part-'))
        throw new StoreError(`delete ${key}`, { kind: 'denied', code: 'AccessDenied' });
      await store.delete(key);
    },
  };

  const publication = await publish(monday, { to: denied });

  expect(publication.kind).toBe('superseded');
  expect(warnings).toEqual([
    expect.stringMatching(
      /^parts of run 20261116T090000Z-aaaaaa of calculations that are in no manifest could not be deleted: delete .*: denied, AccessDenied$/,
    ),
  ]);
});

const WRITES = Array.from({ length: 34 }, (_, index) => index + 1);

describe('a run is superseded while another publisher forces it', () => {
  test.each(WRITES)('at write %i of the one, the other does all its work', async (write) => {
    for (const next of sampled(2, WRITES.slice(write - 1))) {
      store = newStore();
      await publishSunday();
      const force = () => publish(monday, { force: true });
      const { paused, writes } = pausedAt(
        next === write
          ? { [write]: () => publish(tuesday).then(force) }
          : { [write]: () => publish(tuesday), [next]: force },
      );

      await publish(monday, { to: paused });

      if (next <= writes()) await expectWhole(monday);
    }
  });

  test.each(WRITES)('at write %i of the one that forces it, the other does all its work', async (write) => {
    await publishSunday();
    await publish(tuesday);
    const { paused } = pausedAt({ [write]: () => publish(monday) });

    const forced = await publish(monday, { to: paused, force: true });

    expect(forced.kind).toBe('published');
    await expectWhole(monday);
  });

  test(
    'whatever the order of their reads and writes',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.scheduler(), async (scheduler) => {
          store = newStore();
          await publishSunday();
          const to: Store = {
            ...store,
            get: (...args) => scheduler.schedule(Promise.resolve()).then(() => store.get(...args)),
            put: (...args) => scheduler.schedule(Promise.resolve()).then(() => store.put(...args)),
            copy: (...args) => scheduler.schedule(Promise.resolve()).then(() => store.copy(...args)),
            delete: (...args) => scheduler.schedule(Promise.resolve()).then(() => store.delete(...args)),
            async *list(...args) {
              await scheduler.schedule(Promise.resolve());
              yield* await Array.fromAsync(store.list(...args));
            },
          };
          const all = Promise.all([
            publish(monday, { to }),
            publish(tuesday, { to }),
            publish(monday, { to, force: true }),
          ]);

          await scheduler.waitFor(all);

          const latest = await readLatest(store, 'calculations');
          await expectWhole(latest?.run === monday.id ? monday : tuesday);
          const manifest = (await keysOf(monday)).find(isManifestKey);
          const { parts } = manifest === undefined ? { parts: [] } : await readManifest(store, manifest);
          expect(await partsOf(monday)).toEqual(parts.map(({ key }) => key));
        }),
        { numRuns: scaled(30, 3_000) },
      );
    },
    scaledTimeout(300_000),
  );
});
