import { expect, test } from 'vitest';
import { findRuns, lastStopped } from '../../../lib/snapshot/history/runs.ts';
import { latestKey, type Place, publishedFolder, type Run } from '../../../lib/snapshot/keys.ts';
import { placesIn } from '../../../lib/snapshot/manifest.ts';
import { findPublished } from '../../../lib/snapshot/run/resume-run.ts';
import { beforeEvery } from '../../store/before.ts';
import { storeOfEach } from '../../store/store-of-each.ts';
import { publishLines } from '../changes/publish-lines.ts';
import { monday, publishFinished, tuesday, wednesday } from '../publish/finished-run.ts';
import { beginIn } from '../run/begin-in.ts';

const PLACE = 'calculations';
const DAMAGED = Buffer.from('{');
const store = storeOfEach();

const manifestOf = (run: Run, place: Place = PLACE) => `${publishedFolder(place, run)}_manifest.json`;
const checkpointOf = (run: string) => `work/${PLACE}/${run}/_checkpoint.json`;

const find = (differences: Partial<Parameters<typeof findRuns>[0]> = {}) =>
  findRuns({
    store,
    place: PLACE,
    all: false,
    limit: 100,
    signal: new AbortController().signal,
    ...differences,
  });

/** Begins a run and leaves it unfinished; returns its id. */
async function begin(startedAt: string): Promise<string> {
  return (await beginIn(store, { now: () => Date.parse(startedAt) })).checkpoint.run;
}

test('places are found if they are published or under work/, source by source, each once', async () => {
  const folders = ['files', 'work/calculations.b', 'calculations.a', 'work/calculations', 'calculations'];
  for (const folder of [...folders, 'calculations-old', 'calculations.', 'notes'])
    await store.put(`${folder}/x`, DAMAGED);

  expect(await placesIn(store)).toEqual(['calculations', 'calculations.a', 'calculations.b', 'files']);
});

test('only the runs of the given place are listed', async () => {
  await publishLines(store, { run: monday });
  await publishLines(store, { run: tuesday, place: 'files' });

  expect((await find()).listed).toMatchObject([{ source: PLACE, run: monday.id }]);
});

test.each([
  [PLACE, `${PLACE} …`],
  ['calculations.mine', 'calculations --as mine …'],
] as const)(
  'if latest.json of %s is damaged, no run is known, and the error says how to publish a new one',
  async (place, snapshot) => {
    await publishLines(store, { run: monday, place });
    await store.put(latestKey(place), DAMAGED);

    const { listed, broken } = await find({ place });

    expect(listed).toEqual([]);
    expect(broken).toEqual([
      `${place}: ${place}/latest.json is not what platform-sync writes there (1 bytes that are not JSON); to publish a new run without comparing: platform-sync snapshot ${snapshot} --force, or platform-sync publish ${place} RUN --force`,
    ]);
  },
);

test('damage of the newest run is reported once, and so is damage of an unpublished run', async () => {
  await store.put(checkpointOf(wednesday.id), DAMAGED);
  await store.put(`work/${PLACE}/notes/x`, DAMAGED);
  const before = await find({ all: true });
  for (const run of [monday, tuesday]) await publishLines(store, { run });
  await store.put(manifestOf(tuesday), DAMAGED);

  const { broken } = await find({ all: true });

  expect(before.broken).toEqual([expect.stringMatching(/_checkpoint\.json .* no other run is affected$/)]);
  expect(broken).toEqual([
    expect.stringContaining('to publish a new run without comparing'),
    expect.stringContaining('_checkpoint.json'),
  ]);
});

test.each([
  ['manifest', manifestOf(monday)],
  ['checkpoint', checkpointOf(wednesday.id)],
])(
  'a store that does not respond causes an error, and the %s does not count as damaged',
  async (_, object) => {
    for (const run of [monday, tuesday]) await publishLines(store, { run });
    await store.put(checkpointOf(wednesday.id), DAMAGED);
    const unavailable = beforeEvery(store, 'get', (key) => {
      if (key === object) throw new Error('no response');
    });

    await expect(find({ store: unavailable, all: true })).rejects.toThrow('no response');
  },
);

test('Ctrl-C ends a list of many runs', async () => {
  for (const run of [monday, tuesday, wednesday]) await publishLines(store, { run });
  const stop = new AbortController();
  const stopping = beforeEvery(store, 'get', (key) => {
    if (key === manifestOf(tuesday)) stop.abort(new Error('enough'));
    if (key === manifestOf(monday)) expect.fail('reads the next run');
  });

  await expect(find({ store: stopping, signal: stop.signal })).rejects.toThrow('enough');
});

test('the run to resume is the newest that has not ended', async () => {
  await begin('2026-11-16T09:00:00Z');
  const last = await begin('2026-11-18T09:00:00Z');
  await begin('2026-11-17T09:00:00Z');
  const beforeAny = await lastStopped(store, PLACE);
  const refused: Run = { id: '20261119T090000Z-dddddd', startedAt: '2026-11-19T09:00:00.000Z' };
  await publishFinished(store, monday);
  await publishFinished(store, refused, { differences: { records: 1 } });

  expect([beforeAny, await lastStopped(store, PLACE)]).toEqual([last, last]);
});

test('a first run whose publication was stopped can be resumed', async () => {
  await publishFinished(store, monday);
  await store.delete(latestKey(PLACE));

  expect(await lastStopped(store, PLACE)).toBe(monday.id);
});

test('if latest.json is damaged, a run may be resumed although it was published', async () => {
  await publishFinished(store, monday);
  await store.put(latestKey(PLACE), DAMAGED);

  expect(await lastStopped(store, PLACE)).toBe(monday.id);
});

test('if all runs have ended, none is resumed', async () => {
  await publishFinished(store, monday);

  expect(await lastStopped(store, PLACE)).toBeUndefined();
});

test('a run is found published only if it is the newest and complete', async () => {
  const unknown = await findPublished(store, PLACE, monday.id);
  const lines = ['{"id":1}'];
  for (const run of [monday, tuesday]) await publishLines(store, { run, lines });

  expect(unknown).toBeUndefined();
  expect(await findPublished(store, PLACE, wednesday.id)).toBeUndefined();
  expect(await findPublished(store, PLACE, tuesday.id)).toMatchObject({ kind: 'published' });
  await expect(findPublished(store, PLACE, monday.id)).rejects.toThrow('has been published since then');
  for await (const { key } of store.list(`${publishedFolder(PLACE, tuesday)}part-`)) await store.delete(key);
  expect(await findPublished(store, PLACE, tuesday.id)).toBeUndefined();
});
