import { beforeEach, expect, test } from 'vitest';
import { latestKey } from '../../../lib/snapshot/keys.ts';
import { readLatest } from '../../../lib/snapshot/manifest.ts';
import { publishRun } from '../../../lib/snapshot/publish/publish.ts';
import type { Run } from '../../../lib/snapshot/run-id.ts';
import type { Store } from '../../../lib/store/store.ts';
import { createMemoryStore, type MemoryStore } from '../../store/memory-store.ts';
import { disagreements, disagreementsOfSql } from './every-reader.ts';
import { finishedRun, monday, tuesday, wednesday } from './finished-run.ts';

let store: MemoryStore;

beforeEach(() => {
  store = createMemoryStore();
});

/** The records of a run: as many as its day says, each with another name than in any other run. */
const linesOf = ({ id }: Run) =>
  Array.from({ length: Number(id.slice(6, 8)) }, (_, index) => `{"id":${index + 1},"name":"of ${id}"}`);

async function publish(
  run: Run,
  { to = store, force = false }: { readonly to?: Store; readonly force?: boolean } = {},
) {
  const lines = linesOf(run);
  const finished = await finishedRun(store, run, { records: lines.length }, lines);
  return publishRun({ store: to, source: 'calculations', run, finished, force });
}

/** A store in which something happens before the first write after `latest.json` was moved. */
function afterTheMove(happens: () => Promise<unknown>): Store {
  let state: 'before' | 'moved' | 'after' = 'before';
  const pass = async () => {
    if (state === 'moved') {
      state = 'after';
      await happens();
    }
  };
  return {
    ...store,
    put: async (key, ...put) => {
      await pass();
      const result = await store.put(key, ...put);
      if (key === latestKey('calculations') && state === 'before') state = 'moved';
      return result;
    },
    copy: async (...copy) => pass().then(() => store.copy(...copy)),
    delete: async (...deleted) => pass().then(() => store.delete(...deleted)),
  };
}

test('a publisher that is killed right after the move leaves the changes that its manifest says', async () => {
  await publish(monday);
  const to = afterTheMove(async () => {
    throw new Error('killed');
  });
  await publish(tuesday, { to }).catch(() => undefined);

  expect((await readLatest(store, 'calculations'))?.run).toBe(tuesday.id);
  expect(await disagreements(store)).toEqual([]);
  expect(await disagreementsOfSql(store)).toEqual([]);
});

test('a publisher that is late after its move writes nothing over the changes of a later publication of its run', async () => {
  await publish(monday);
  const to = afterTheMove(async () => {
    await publish(wednesday);
    await publish(tuesday, { force: true });
  });
  await publish(tuesday, { to });
  await publish(tuesday);

  expect((await readLatest(store, 'calculations'))?.run).toBe(tuesday.id);
  expect(await disagreements(store)).toEqual([]);
  expect(await disagreementsOfSql(store)).toEqual([]);
});
