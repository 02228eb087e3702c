import { expect, test } from 'vitest';
import { findRuns } from '../../../lib/cli/list-runs.ts';
import { publishedRuns } from '../../../lib/snapshot/changes/published-runs.ts';
import { findRunPair } from '../../../lib/snapshot/changes/run-pair.ts';
import { MANIFEST_NAME, publishedFolder } from '../../../lib/snapshot/keys.ts';
import { createMemoryStore } from '../../store/memory-store.ts';
import { monday, publishLines, tuesday } from './publish-lines.ts';

test('the manifest of another run in a run’s folder is listed with its fault, and not compared', async () => {
  const store = createMemoryStore();
  for (const run of [monday, tuesday]) await publishLines(store, { run });
  const keyOf = (run: typeof monday) => `${publishedFolder('calculations', run)}${MANIFEST_NAME}`;
  await store.put(keyOf(tuesday), store.objects.get(keyOf(monday)) ?? Buffer.alloc(0));

  const wanted = { store, place: 'calculations', all: false, limit: 10 } as const;
  const { listed } = await findRuns(wanted, { signal: new AbortController().signal });
  const runs = await publishedRuns(store, 'calculations');
  const pair = findRunPair({ store, place: 'calculations', runs, old: undefined, now: tuesday.id });

  const fault = `expected the manifest of run ${tuesday.id} of calculations, got that of ${monday.id} of calculations`;
  expect(listed).toMatchObject([{ run: tuesday.id, fault: expect.stringContaining(fault) }, { fault: null }]);
  await expect(pair).rejects.toThrow(fault);
});
