import { expect, test } from 'vitest';
import { createExpectedJobs } from '../../lib/jobs/expected-jobs.ts';
import { createMemoryStore } from '../store/memory-store.ts';

const HOUR_MS = 3_600_000;
const START_MS = Date.parse('2026-11-30T00:00:00.000Z');

/** A check for expected jobs that did not arrive, at a number of hours after midnight. `arrived`: the ids in the ledger. */
function startWatch() {
  const store = createMemoryStore();
  const arrived = new Set<string>();
  let atMs = START_MS;
  const jobs = createExpectedJobs({ store, hasArrived: async (id) => arrived.has(id), now: () => atMs });
  const missingAt = async (hours: number, names: readonly string[] = ['nightly', 'hourly']) => {
    atMs = START_MS + hours * HOUR_MS;
    return (await jobs.missing({ functions: names })).map(({ id }) => id);
  };
  const expected = async () => {
    const keys: string[] = [];
    for await (const { key } of store.list('work/')) keys.push(key);
    return keys;
  };
  return { store, arrived, expectJob: (id: string) => jobs.expect({ due: id }), missingAt, expected };
}

test('a job that did not arrive within an hour is reported as missing by each check until it arrives', async () => {
  const { arrived, expectJob, missingAt, expected } = startWatch();
  await expectJob('nightly.2026-11-30T02:00:00Z');

  expect(await missingAt(2)).toEqual([]);
  expect(await missingAt(2.99)).toEqual([]);
  expect(await missingAt(3)).toEqual(['nightly.2026-11-30T02:00:00Z']);
  expect(await missingAt(4)).toEqual(['nightly.2026-11-30T02:00:00Z']);
  arrived.add('nightly.2026-11-30T02:00:00Z');
  expect(await missingAt(5)).toEqual([]);
  expect(await expected()).toEqual([]);
});

test('a job that arrived is not missing, and may be announced as due again', async () => {
  const { arrived, expectJob, missingAt, expected } = startWatch();
  const id = 'nightly.2026-11-30T02:00:00.000Z';
  arrived.add(id);
  await expectJob(id);
  await expectJob(id);

  expect(await missingAt(3)).toEqual([]);
  await expectJob(id);
  expect(await missingAt(4)).toEqual([]);
  expect(await expected()).toEqual([]);
});

test('each missing job is reported, until a later job of its schedule has arrived', async () => {
  const { arrived, expectJob, missingAt } = startWatch();
  await expectJob('hourly.2026-11-30T01:00:00Z');
  await expectJob('hourly.2026-11-30T02:00:00Z');
  await expectJob('nightly.2026-11-30T02:00:00Z');
  arrived.add('hourly.2026-11-30T02:00:00Z');

  expect(await missingAt(3)).toEqual(['hourly.2026-11-30T01:00:00Z', 'nightly.2026-11-30T02:00:00Z']);
  expect(await missingAt(4)).toEqual(['nightly.2026-11-30T02:00:00Z']);
});

test('no job is expected from a function that is no longer scheduled', async () => {
  const { expectJob, missingAt, expected } = startWatch();
  await expectJob('nightly.2026-11-30T02:00:00Z');

  expect(await missingAt(3, ['hourly'])).toEqual([]);
  expect(await expected()).toEqual([]);
});

test('objects that are not expected jobs are not touched', async () => {
  const { store, missingAt, expected } = startWatch();
  await store.put('work/expected-jobs/!!', Buffer.from('a'));
  await store.put('work/expected-jobs/nightly.soon', Buffer.from('b'));

  expect(await missingAt(3)).toEqual([]);
  expect(await expected()).toHaveLength(2);
});

test.each([
  ['no time', 'nightly.soon'],
  ['no name', '.2026-11-30T02:00:00Z'],
  ['an invalid time', 'nightly.2026-13-30T02:00:00Z'],
  ['characters that no id may have', 'nightly/2026-11-30T02:00:00Z'],
])('the announcement of a due job is refused if it has %s', async (_, due) => {
  const { expectJob, expected } = startWatch();

  await expect(expectJob(due)).rejects.toThrow();
  expect(await expected()).toEqual([]);
});

test('an event that does not name the due job is treated as another kind of event', async () => {
  const jobs = createExpectedJobs({ store: createMemoryStore(), hasArrived: async () => true, now: () => 0 });

  expect(await jobs.expect({ functions: [] })).toBe(false);
  expect(await jobs.expect(null)).toBe(false);
});

test('the check fails if the store is unavailable', async () => {
  const { store, expectJob, missingAt } = startWatch();
  await expectJob('nightly.2026-11-30T02:00:00Z');
  store.list = () => {
    throw new Error('unavailable');
  };

  await expect(missingAt(3)).rejects.toThrow('unavailable');
});
