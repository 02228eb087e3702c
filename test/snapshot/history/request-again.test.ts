import { expect, test } from 'vitest';
import { placesToTake } from '../../../lib/snapshot/history/request-again.ts';
import { describeIds } from '../../../lib/snapshot/run/begin-run.ts';
import { createMemoryStore } from '../../store/memory-store.ts';
import { monday, publishLines } from '../changes/publish-lines.ts';

const ids = Array.from({ length: 1_001 }, (_, index) => String(40_009 + 7 * index));

/** The request that repeats a run with more ids than a manifest lists. All ids but the first have a record. */
async function repeatedRequest(missing: readonly string[]) {
  const store = createMemoryStore();
  const lines = ids.slice(1).map((id) => JSON.stringify({ dataFileId: Number(id) }));
  await publishLines(store, {
    ...{ place: 'data-files', run: monday, lines },
    manifest: {
      selection: { ids: describeIds(ids) },
      missing: missing.map((id) => ({ id, status: 404, since: monday.startedAt })),
    },
  });
  const [place] = await placesToTake(store);
  return place?.request();
}

test('ids that are too many for a manifest are computed from the records and the missing ids', async () => {
  expect(await repeatedRequest([ids[0] ?? ''])).toEqual({ source: 'data-files', ids: ids.toSorted() });
});

test('ids are not computed if some of them left neither a record nor a missing id', async () => {
  await expect(repeatedRequest([])).rejects.toThrow('its records do not contain all of them');
});

test('if nothing was published, the sources that need no options are taken', async () => {
  const places = await placesToTake(createMemoryStore());

  expect(await Promise.all(places.map(({ request }) => request()))).toEqual([
    { source: 'calculations' },
    { source: 'cards', drill: true },
  ]);
});

test('a snapshot that was narrowed under a name of its own is taken again under that name', async () => {
  const store = createMemoryStore();
  const selection = { name: 'Revenue' };
  await publishLines(store, {
    place: 'calculations.mine',
    run: monday,
    lines: ['{"id":1}'],
    manifest: { selection },
  });

  const [place] = await placesToTake(store);

  expect(place?.place).toBe('calculations.mine');
  expect(await place?.request()).toEqual({ source: 'calculations', name: 'Revenue', as: 'mine' });
});
