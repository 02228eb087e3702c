import { expect, test } from 'vitest';
import { missingSince, newlyMissing } from '../../../lib/snapshot/publish/gates.ts';
import { beginRun } from '../../../lib/snapshot/run/begin-run.ts';
import { createMemoryStore } from '../../store/memory-store.ts';
import { monday, publishLines, tuesday } from '../changes/publish-lines.ts';
import { publishedManifest } from '../published-manifest.ts';

const [MONDAY, TUESDAY] = [monday.startedAt, tuesday.startedAt];

test('an id is missing since the first of the runs in which the platform responded the same for it', () => {
  const last = {
    missing: [
      { id: 'a', status: 404, since: MONDAY },
      { id: 'b', status: 500, since: MONDAY },
    ],
  };
  const missing = ['a', 'b', 'c'].map((id) => ({ id, status: 404 }));

  expect(missingSince({ missing, startedAt: TUESDAY }, last)).toEqual([
    { id: 'a', status: 404, since: MONDAY },
    { id: 'b', status: 404, since: TUESDAY },
    { id: 'c', status: 404, since: TUESDAY },
  ]);
  expect(missingSince({ missing, startedAt: TUESDAY }, undefined).map(({ since }) => since)).toEqual([
    TUESDAY,
    TUESDAY,
    TUESDAY,
  ]);
});

test.each([
  ['new', 'cards', { datasets: ['a'] }, TUESDAY, monday.id, 1],
  ['known', 'cards', { datasets: ['a'] }, MONDAY, monday.id, 0],
  ['new in a first run, where it was named', 'cards', { datasets: ['a'] }, TUESDAY, null, 1],
  ['new in a first run, where it was linked to', 'cards', { datasets: 'calculations' }, TUESDAY, null, 0],
  ['new and linked to, after another run', 'cards', { datasets: 'calculations' }, TUESDAY, monday.id, 1],
])('whether a missing id counts as newly missing: %s', (_, source, selection, since, begunAfter, news) => {
  const missing = [{ id: 'a', status: 404, since }];
  const manifest = publishedManifest({ source, selection, startedAt: TUESDAY, begunAfter, missing });

  expect(newlyMissing(manifest)).toHaveLength(news);
});

test('a dataset that all links call deleted, and the last run could not read, is not requested again, and stays missing', async () => {
  const store = createMemoryStore();
  const link = (id: string, valid: string) => ({ resource: { type: 'DATA_SOURCE', id }, valid });
  const of = (...links: readonly object[]) => JSON.stringify({ id: 1, links });
  const lines = [
    of(link('gone', 'ILLEGAL_REFERENCE'), link('new', 'ILLEGAL_REFERENCE')),
    of(link('forbidden', 'VALID'), link('there', 'VALID')),
  ];
  await publishLines(store, { run: monday, lines });
  const missing = ['gone', 'forbidden'].map((id) => ({ id, status: 404, since: MONDAY }));
  const selection = { datasets: 'calculations', drill: true };
  await publishLines(store, { place: 'cards', run: monday, manifest: { missing, selection } });
  const options = {
    store,
    platform: 'acme.example.com',
    compression: 'gzip',
    now: Date.now,
    random: Math.random,
  } as const;

  const { checkpoint } = await beginRun({ source: 'cards', drill: true }, options);

  const ids = store.objects.get(`work/cards/${checkpoint.run}/_ids.json`);
  expect(JSON.parse(String(ids))).toEqual({ ids: ['forbidden', 'new', 'there'] });
  expect(checkpoint.missing).toEqual([{ id: 'gone', status: 404 }]);
});
