import { beforeEach, expect, test } from 'vitest';
import { planPrune } from '../../../lib/snapshot/history/prune.ts';
import { latestKey, parquetFolder, publishedFolder, type Run, runOfId } from '../../../lib/snapshot/keys.ts';
import { readLatest } from '../../../lib/snapshot/manifest.ts';
import { startRun } from '../../../lib/snapshot/run/begin-run.ts';
import { createMemoryStore, type MemoryStore } from '../../store/memory-store.ts';
import { monday, publishFinished, tuesday, wednesday } from '../publish/finished-run.ts';

const PLACE = 'calculations';
const NOW = Date.parse('2026-11-21T09:00:00Z');
const DAY_MS = 86_400_000;

let store: MemoryStore;

beforeEach(() => {
  store = createMemoryStore();
});

/** The runs that a prune would delete, each with its state. */
async function plan(rule: Parameters<typeof planPrune>[0]['rule'] = { kind: 'keep', keep: 1 }, nowMs = NOW) {
  const { runs } = await planPrune({ store, place: PLACE, rule, nowMs });
  return runs.map(({ run, state }) => `${run} ${state}`);
}

const publish = (run: Run) => publishFinished(store, run, {});

/** Publishes a run that a gate refuses, so that it stays under `work/`. */
const refuse = (run: Run) => publishFinished(store, run, { differences: { records: 1 } });

async function begin(startedAt: string): Promise<Run> {
  const clock = { store, now: () => Date.parse(startedAt), random: Math.random };
  const selection = { source: PLACE, compression: 'gzip', selection: {}, platform: 'example.com' } as const;
  return runOfId((await startRun(selection, clock)).checkpoint.run);
}

/** Stores an object of a run, as a publisher does before it is killed. */
const leaveObject = (run: Run, folder = publishedFolder(PLACE, run)) =>
  store.put(`${folder}part-00000-aa.ndjson.gz`, Buffer.from('x'));

/** Marks a run as removed, as a prune does that is killed just afterwards. */
async function markRemoved(run: Run): Promise<void> {
  const latest = await readLatest(store, PLACE);
  await store.put(latestKey(PLACE), Buffer.from(JSON.stringify({ ...latest, removed: [run.id] })));
}

test('objects of a publication in progress are not touched, and are deleted with their run after a week', async () => {
  await publish(monday);
  const begun = await begin('2026-11-20T09:00:00Z');
  await leaveObject(begun);

  expect(await plan()).toEqual([]);
  expect(await plan(undefined, NOW + 6 * DAY_MS)).toEqual([]);
  expect(await plan({ kind: 'older', beforeMs: NOW }, NOW + 6 * DAY_MS)).toEqual([`${begun.id} unfinished`]);
});

test('if a refused run stays, what its publisher has stored stays too', async () => {
  await publish(monday);
  await refuse(tuesday);
  const waiting = await plan();
  await leaveObject(tuesday);

  expect([waiting, await plan()]).toEqual([[], []]);
});

test('an unpublished run is deleted if it started before all that stay, whatever number is kept', async () => {
  await publish(tuesday);
  await publish(wednesday);
  await refuse(monday);

  expect(await plan({ kind: 'keep', keep: 1 })).toEqual([`${tuesday.id} published`, `${monday.id} refused`]);
  expect(await plan({ kind: 'keep', keep: 2 })).toEqual([`${monday.id} refused`]);
});

test('an unpublished run stays if it started after one of the published runs that stay', async () => {
  await publish(monday);
  await publish(wednesday);
  await refuse(tuesday);

  expect(await plan({ kind: 'keep', keep: 1 })).toContain(`${tuesday.id} refused`);
  expect(await plan({ kind: 'keep', keep: 2 })).toEqual([]);
});

test('leftovers of an unknown run are deleted as a run only if it started before those that stay', async () => {
  await publish(tuesday);
  const thursday: Run = { id: '20261119T090000Z-dddddd', startedAt: '2026-11-19T09:00:00.000Z' };
  for (const run of [monday, wednesday, thursday]) await leaveObject(run);

  expect(await plan()).toEqual([`${monday.id} left`]);
});

test('a half-pruned run is deleted, whatever is requested and wherever the rest of it is', async () => {
  await publish(monday);
  await markRemoved(tuesday);
  await leaveObject(tuesday);
  await leaveObject(tuesday, parquetFolder(PLACE, tuesday));

  expect(await plan({ kind: 'keep', keep: 9 })).toEqual([`${tuesday.id} half-pruned`]);
});

test('a half-pruned run is deleted even if only objects under work/ remain, however young it is', async () => {
  await publish(monday);
  const begun = await begin('2026-11-20T09:00:00Z');
  await markRemoved(begun);

  expect(await plan({ kind: 'keep', keep: 9 })).toEqual([`${begun.id} half-pruned`]);
});

test('a run whose outcome cannot be read is deleted like one that has ended', async () => {
  await publish(monday);
  const begun = await begin('2026-11-20T09:00:00Z');
  await store.put(`work/${PLACE}/${begun.id}/_manifest.json`, Buffer.from('{'));

  expect(await plan({ kind: 'older', beforeMs: NOW })).toEqual([`${begun.id} damaged`]);
});

test('a run that started exactly at the limit stays', async () => {
  const startedMs = Date.parse(monday.startedAt);
  await publish(monday);
  await publish(tuesday);
  const old = await begin(monday.startedAt);
  const at = async (beforeMs: number) => plan({ kind: 'older', beforeMs }, startedMs + 7 * DAY_MS);

  expect(await plan({ kind: 'keep', keep: 2 }, startedMs + 7 * DAY_MS)).toEqual([]);
  expect(await at(startedMs)).toEqual([]);
  expect(await at(startedMs + 1)).toEqual([`${monday.id} published`, `${old.id} unfinished`]);
});

test('nothing is deleted while the newest run is damaged', async () => {
  await publish(monday);
  await publish(tuesday);
  await leaveObject(wednesday);
  await store.put(`${PLACE}/latest.json`, Buffer.from('{'));

  expect(await plan()).toEqual([]);
});

test('if nothing is published, only objects under work/ are deleted, since any other run may have been published', async () => {
  await publish(monday);
  await publish(tuesday);
  await store.delete(latestKey(PLACE));
  await begin('2026-11-01T09:00:00Z');
  const rule = { kind: 'older', beforeMs: NOW } as const;

  const { runs } = await planPrune({ store, place: PLACE, rule, nowMs: NOW + 7 * DAY_MS });

  expect(await plan()).toEqual([]);
  expect(runs.map(({ folder }) => folder)).toEqual([undefined, undefined, undefined]);
});

test('other objects of a place belong to no run', async () => {
  await publish(tuesday);
  const { id } = monday;
  for (const name of ['notes.txt', 'dt=2026-11-16/notes.txt', `old/dt=2026-11-16/run=${id}/notes.txt`])
    await store.put(`${PLACE}/${name}`, Buffer.from('x'));

  expect(await plan()).toEqual([]);
});
