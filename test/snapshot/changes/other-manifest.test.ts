import { expect, test } from 'vitest';
import { readSnapshots } from '../../../lib/report/collect/snapshots.ts';
import { changesBetween } from '../../../lib/snapshot/changes/changes-between.ts';
import { findRuns } from '../../../lib/snapshot/history/runs.ts';
import { MANIFEST_NAME, publishedFolder } from '../../../lib/snapshot/keys.ts';
import { beginRun } from '../../../lib/snapshot/run/begin-run.ts';
import { createMemoryStore } from '../../store/memory-store.ts';
import { monday, publishLines, tuesday } from './publish-lines.ts';

test('the manifest of another run in a run’s folder is listed with its fault, and not compared', async () => {
  const store = createMemoryStore();
  for (const run of [monday, tuesday]) await publishLines(store, { run });
  const keyOf = (run: typeof monday) => `${publishedFolder('calculations', run)}${MANIFEST_NAME}`;
  await store.put(keyOf(tuesday), store.objects.get(keyOf(monday)) ?? Buffer.alloc(0));

  const wanted = { store, place: 'calculations', all: false, limit: 10 } as const;
  const { listed } = await findRuns({ ...wanted, signal: new AbortController().signal });
  const pair = changesBetween({ store, place: 'calculations', now: tuesday.id, memoryBytes: 1e6 });

  const fault = `expected the manifest of run ${tuesday.id} of calculations, got the manifest of ${monday.id} of calculations`;
  expect(listed).toMatchObject([{ run: tuesday.id, fault: expect.stringContaining(fault) }, { fault: null }]);
  await expect(pair).rejects.toThrow(fault);
});

test('the manifest of another place is neither in the history of a report nor used to take ids from', async () => {
  const store = createMemoryStore();
  for (const run of [monday, tuesday]) await publishLines(store, { run });
  const moveElsewhere = async (run: typeof monday) => {
    const key = `${publishedFolder('calculations', run)}${MANIFEST_NAME}`;
    const manifest = JSON.parse(String(store.objects.get(key))) as object;
    await store.put(key, Buffer.from(JSON.stringify({ ...manifest, source: 'calculations.other' })));
  };
  const faults: string[] = [];
  const addFault = (fault: string) => void faults.push(fault);

  await moveElsewhere(monday);
  const [snapshot] = await readSnapshots({ store, addFault, signal: new AbortController().signal });
  await moveElsewhere(tuesday);
  const clock = { now: Date.now, random: Math.random };
  const cards = beginRun(
    { source: 'cards', drill: true },
    { store, platform: 'acme.example.com', compression: 'gzip', ...clock },
  );

  await expect(cards).rejects.toThrow(`expected the manifest of run ${tuesday.id} of calculations, got`);
  expect(snapshot?.facts.history.map(({ run }) => run)).toEqual([tuesday.id]);
  expect(faults).toEqual([expect.stringContaining(`expected the manifest of run ${monday.id}`)]);
});
