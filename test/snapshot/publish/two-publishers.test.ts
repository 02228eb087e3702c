import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { planPrune, pruneRuns } from '../../../lib/snapshot/history/prune.ts';
import type { Run } from '../../../lib/snapshot/keys.ts';
import { type Manifest, manifestOf, publishedRuns } from '../../../lib/snapshot/manifest.ts';
import { publishRun } from '../../../lib/snapshot/publish/publish.ts';
import type { Store } from '../../../lib/store/store.ts';
import { buildTables as makeAll, type TablesToBuild } from '../../../lib/tables/build/build-tables.ts';
import { sampled, scaledTimeout } from '../../scale.ts';
import { createMemoryStore, type MemoryStore } from '../../store/memory-store.ts';
import { disagreements, disagreementsOfSql, leftovers } from './every-reader.ts';
import { finishedRun, monday, tuesday, wednesday } from './finished-run.ts';

/*
 * The first of two publishers is paused before one of its writes while the other works, and either is killed before one
 * of its writes. After every write, every reader finds what the manifests say.
 */

const PLACE = 'calculations';
const NOW = Date.parse('2026-11-21T09:00:00Z');
const sunday: Run = { id: '20261115T090000Z-999999', startedAt: '2026-11-15T09:00:00.000Z' };
const thursday: Run = { id: '20261119T090000Z-dddddd', startedAt: '2026-11-19T09:00:00.000Z' };

type Publisher = { readonly run: Run; readonly force?: boolean };

/** The numbers of the writes before which the first publisher pauses, and before which each is killed; 0: never. */
type Schedule = { readonly pause: number; readonly killOther: number; readonly kill: number };

/** A publisher writes at most this often, unless it loses a race; then it repeats its first writes. */
const MAX_WRITES = 25;

const upTo = (most: number) => Array.from({ length: most + 1 }, (_, index) => index);

/** The first publisher is killed at its pause, at most four writes after it, or never. */
const schedules: readonly Schedule[] = upTo(MAX_WRITES)
  .slice(1)
  .flatMap((pause) =>
    upTo(MAX_WRITES).flatMap((killOther) =>
      [0, pause, pause + 1, pause + 2, pause + 4].map((kill) => ({ pause, killOther, kill })),
    ),
  );

/** The lines of a run: as many records as its day of the month, with names that no other run has. */
const linesOf = ({ id }: Run) =>
  Array.from({ length: Number(id.slice(6, 8)) }, (_, index) => `{"id":${index + 1},"name":"of ${id}"}`);

/** The partitions of the changes table in Athena: the key of the changes, by run. */
type Athena = Map<string, string>;

const partitionsIn = (athena: Athena): TablesToBuild['partitions'] & {} => ({
  async add(_place, run, { changes }) {
    if (changes) athena.set(run.id, changes.key);
    else athena.delete(run.id);
  },
  remove: async (_place, run) => void athena.delete(run.id),
});

type World = { readonly store: MemoryStore; readonly athena: Athena };

async function publish({ store }: World, { run, force = false }: Publisher, to: Store = store) {
  const lines = linesOf(run);
  const finished = await finishedRun(store, run, { records: lines.length }, lines);
  return publishRun({ store: to, source: PLACE, run, finished, force, now: () => NOW });
}

/** Writes the tables of all runs, as the next scheduled task would. */
async function buildTables({ store, athena }: World, kinds = ['made']): Promise<void> {
  const partitions = partitionsIn(athena);
  const given = { store, partitions, places: [PLACE], isSparse: true } as const;
  for await (const { kind } of makeAll({ ...given, isOver: () => false, warn: (what) => expect.fail(what) }))
    expect(kinds).toContain(kind);
}

type Steps = {
  readonly killAt: number;
  readonly pauseAt?: number;
  readonly meanwhile?: () => Promise<unknown>;
  readonly afterEach: () => Promise<void>;
};

/** The store as a publisher sees it that is paused and killed. After it was killed, it writes nothing. */
function stepping(store: MemoryStore, { killAt, pauseAt, meanwhile, afterEach }: Steps): Store {
  let writes = 0;
  let isDead = false;
  const step = async <T>(write: () => Promise<T>): Promise<T> => {
    writes += 1;
    if (writes === pauseAt) await meanwhile?.();
    if (writes === killAt) isDead = true;
    if (isDead) throw new Error('killed');
    const result = await write();
    await afterEach();
    return result;
  };
  return {
    ...store,
    put: (...args) => step(() => store.put(...args)),
    putStream: (...args) => step(() => store.putStream(...args)),
    copy: (...args) => step(() => store.copy(...args)),
    delete: (...args) => step(() => store.delete(...args)),
  };
}

function unlessKilled(error: Error): void {
  if (error.message !== 'killed') throw error;
}

/** Checks a store with every reader, unless an equal store was checked before; with SQL every hundredth time. */
function createReader() {
  const seen = new Set<string>();
  return async (store: MemoryStore, schedule: Schedule): Promise<void> => {
    const published = [...store.objects].filter(([key]) => !key.startsWith('work/')).sort();
    const state = hash('sha256', Buffer.concat(published.flatMap(([key, body]) => [Buffer.from(key), body])));
    if (seen.has(state)) return;
    seen.add(state);
    expect(await disagreements(store), JSON.stringify(schedule)).toEqual([]);
    if (seen.size % 100 === 50) expect(await disagreementsOfSql(store), JSON.stringify(schedule)).toEqual([]);
  };
}

async function manifestsIn(store: Store): Promise<readonly Manifest[]> {
  const runs = await publishedRuns(store, PLACE);
  return Promise.all(runs.map(({ run, manifest }) => manifestOf(store, manifest, { place: PLACE, run })));
}

/** Prunes all but the newest runs, a month later. */
async function prune({ store, athena }: World, keep: number): Promise<void> {
  const rule = { kind: 'keep', keep } as const;
  const nowMs = NOW + 30 * 86_400_000;
  const plan = await planPrune({ store, place: PLACE, rule, nowMs });
  const { signal } = new AbortController();
  const removePartition = partitionsIn(athena).remove;
  await pruneRuns({ ...plan, store, signal, removePartition, onRemoved: () => undefined });
}

test.for([
  { before: [sunday], first: { run: monday }, other: { run: tuesday } },
  { before: [sunday], first: { run: tuesday }, other: { run: monday } },
  { before: [sunday], first: { run: monday }, other: { run: monday } },
  { before: [sunday, wednesday], first: { run: monday, force: true }, other: { run: tuesday, force: true } },
  // The readers are checked only at the end: the manifest of a run that is published again exists before its publisher
  // checks whether the other one withdrew its parts.
  {
    before: [sunday, wednesday],
    first: { run: monday, force: true },
    other: { run: monday },
    isReadAtEnd: true,
  },
  { before: [sunday, monday], first: { run: monday, force: true }, other: { run: tuesday } },
  // No run that was published after these two refers to Wednesday's run any more.
  {
    before: [sunday, monday, wednesday],
    back: [tuesday, monday],
    first: { run: tuesday, force: true },
    other: { run: monday, force: true },
    isReadAtEnd: true,
  },
  // The first publisher is late with changes against a run that is no longer the previous one.
  {
    before: [sunday],
    first: { run: monday },
    other: { run: monday, force: true },
    between: tuesday,
    isReadAtEnd: true,
  },
])(
  'after each write of two publishers, all readers agree with the manifests: case %#',
  { timeout: scaledTimeout(1_200_000) },
  async ({ before, back = [], first, other, between, isReadAtEnd = false }) => {
    const start: World = { store: createMemoryStore(), athena: new Map() };
    for (const run of before) await publish(start, { run });
    for (const run of back) await publish(start, { run, force: true });
    const read = createReader();
    for (const schedule of sampled(6, schedules)) {
      const world: World = { store: createMemoryStore(), athena: new Map(start.athena) };
      const { store } = world;
      for (const [key, body] of start.store.objects) store.objects.set(key, body);
      const afterEach = async () => (isReadAtEnd ? undefined : read(store, schedule));
      const meanwhile = async () => {
        if (between !== undefined) await publish(world, { run: between });
        await publish(world, other, stepping(store, { killAt: schedule.killOther, afterEach })).catch(
          unlessKilled,
        );
      };

      const steps = { killAt: schedule.kill, pauseAt: schedule.pause, meanwhile, afterEach };
      await publish(world, first, stepping(store, steps)).catch(unlessKilled);
      const abandoned: World = { store: createMemoryStore(), athena: new Map(world.athena) };
      for (const [key, body] of store.objects) abandoned.store.objects.set(key, body);

      // Both publishers are started again.
      await publish(world, first);
      await publish(world, other);
      await buildTables(world);
      await read(store, schedule);
      const shown = JSON.stringify(schedule);
      for (const { run, changes } of await manifestsIn(store))
        expect(world.athena.get(run), shown).toBe(changes?.key);
      await prune(world, 100);
      expect(await leftovers(store), shown).toEqual([]);

      // Without a restart, a prune deletes what they left.
      const pruned: World = { store: createMemoryStore(), athena: new Map(world.athena) };
      for (const [key, body] of abandoned.store.objects) pruned.store.objects.set(key, body);
      await prune(pruned, 100);
      await read(pruned.store, schedule);
      const listed = (await publishedRuns(pruned.store, PLACE)).map(({ run }) => run);
      expect(listed, shown).toEqual(expect.arrayContaining([...before, ...back].map(({ id }) => id)));
      expect(await leftovers(pruned.store), shown).toEqual([]);

      // Otherwise another run is published, and the older ones are pruned. What a killed publisher left may lack parts
      // that the other one withdrew.
      await buildTables(abandoned, ['made', 'skipped']);
      await publish(abandoned, { run: thursday, force: true });
      await buildTables(abandoned, ['made', 'skipped']);
      await prune(abandoned, 1);
      await read(abandoned.store, schedule);
      expect(await leftovers(abandoned.store), shown).toEqual([]);
      expect([...abandoned.athena.keys()], shown).toEqual([thursday.id]);
    }
  },
);
