import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { type Change, printChange } from '../../../lib/snapshot/changes/change.ts';
import type { Run } from '../../../lib/snapshot/keys.ts';
import { monday, publishLines, tuesday, wednesday } from '../../snapshot/changes/publish-lines.ts';
import { createMemoryStore, type MemoryStore } from '../../store/memory-store.ts';
import { collect, given } from './collect.ts';

const link = (valid: string) => ({ resource: { type: 'DATA_SOURCE', id: '9' }, valid });
const sound = (id: number) => JSON.stringify({ id, status: 'VALID', links: [link('VALID')] });
const broken = (id: number) => JSON.stringify({ id, status: 'VALID', links: [link('DELETED')] });
const invalid = (id: number) => JSON.stringify({ id, status: 'INVALID', links: [] });

const changed = (before: string, after: string, ...fields: readonly string[]): Change => ({
  ...{ change: 'changed', key: String(JSON.parse(after).id), before, after },
  fields: fields.length === 0 ? ['links', 'status'] : fields,
});
const added = (after: string): Change => ({ change: 'added', key: String(JSON.parse(after).id), after });

/** Publishes a run of these lines with what changed since the run before. */
async function publish(
  store: MemoryStore,
  {
    run,
    against,
    changes = [],
    lines = [],
  }: { run: Run; against?: Run; changes?: Change[]; lines?: string[] },
) {
  const key = `changes/${run.id}.gz`;
  if (against !== undefined)
    await store.put(key, gzipSync(changes.map((change) => `${printChange(change)}\n`).join('')));
  const counts = { added: 0, removed: 0, changed: changes.length };
  await publishLines(store, {
    ...{ run, lines },
    ...(against && { manifest: { changes: { against: against.id, ...counts, key } } }),
  });
}

/** On Tuesday 1 broke, 2 was added as invalid, and 3 changed otherwise; on Wednesday 4 broke in another way. */
async function threeRuns() {
  const store = createMemoryStore();
  const lines = [broken(1), invalid(2), broken(3), invalid(4), sound(5)];
  await publish(store, { run: monday });
  await publish(store, {
    ...{ run: tuesday, against: monday },
    changes: [changed(sound(1), broken(1)), added(invalid(2)), changed(broken(3), broken(3), 'name')],
  });
  await publish(store, {
    ...{ run: wednesday, against: tuesday, lines },
    changes: [changed(broken(1), broken(1), 'name'), changed(broken(4), invalid(4))],
  });
  return store;
}

async function sinceIn(store: MemoryStore) {
  const { calculations, faults } = await collect(store);
  const { beforeMs, since } = given(given(calculations).brokenSince);
  const days = since.map(([id, ms]) => [id, ms && new Date(ms).toISOString().slice(0, 10)]);
  return { before: new Date(beforeMs).toISOString().slice(0, 10), since: Object.fromEntries(days), faults };
}

test('a calculation has been broken since the run that broke or added it, or since before the first that is known', async () => {
  expect(await sinceIn(await threeRuns())).toEqual({
    before: '2026-11-16',
    since: { 1: '2026-11-17', 2: '2026-11-17', 3: null, 4: null },
    faults: [],
  });
});

const UNKNOWN = { 1: null, 2: null, 3: null, 4: null };

test('where changes have expired, it was broken before the run after them', async () => {
  const store = await threeRuns();
  await store.delete(`changes/${tuesday.id}.gz`);

  expect(await sinceIn(store)).toEqual({ before: '2026-11-17', since: UNKNOWN, faults: [] });
});

test('damaged changes are named, and what is known until then is said', async () => {
  const store = await threeRuns();
  await store.put(`changes/${tuesday.id}.gz`, gzipSync('{'));

  expect(await sinceIn(store)).toEqual({
    before: '2026-11-17',
    since: UNKNOWN,
    faults: [expect.stringMatching(/^since when calculations are broken: .*expected a change/)],
  });
});

test('after the first run nothing is known but that', async () => {
  const store = createMemoryStore();
  await publish(store, { run: monday, lines: [broken(1)] });

  expect(await sinceIn(store)).toEqual({ before: '2026-11-16', since: { 1: null }, faults: [] });
});
