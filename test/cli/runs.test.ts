import { describe, expect, test } from 'vitest';
import type { Place, Run } from '../../lib/snapshot/keys.ts';
import type { Manifest } from '../../lib/snapshot/manifest.ts';
import { startRun } from '../../lib/snapshot/run/begin-run.ts';
import { printStored } from '../../lib/store/stored-json.ts';
import { monday, publishLines, tuesday, wednesday } from '../snapshot/changes/publish-lines.ts';
import { publishedManifest } from '../snapshot/published-manifest.ts';
import { storeOfEach } from '../store/store-of-each.ts';
import { runCommand } from './run-command.ts';

const store = storeOfEach();

const run = (...argv: readonly string[]) => runCommand(argv, {}, '', { openStore: async () => store });

const runs = (...argv: readonly string[]) => run('runs', ...argv);

const lines = ['{"id":1}', '{"id":2}'];

async function publishTwo() {
  await publishLines(store, { run: monday, lines });
  await publishLines(store, {
    run: tuesday,
    lines,
    manifest: {
      finishedAt: '2026-11-17T09:00:12.340Z',
      records: 20_000,
      changes: { against: monday.id, added: 3, removed: 1_200, changed: 0, key: 'changes/gone' },
      consistency: 'best-effort',
      degradedPages: 1,
      forced: true,
      refused: ['degraded', 'unproved'],
    },
  });
}

test('runs lists published runs as a table, newest first', async () => {
  await publishTwo();

  const { code, out } = await runs('calculations');

  expect(code).toBe(0);
  expect(out.split('\n')).toEqual([
    'SOURCE        RUN                      STARTED                   SECONDS  RECORDS  ADDED  REMOVED  CHANGED  CONSISTENCY',
    'calculations  20261117T090000Z-bbbbbb  2026-11-17T09:00:00.000Z  12.3     20,000   3      1,200    0        best-effort  forced over: degraded (1 page), unproved',
    'calculations  20261116T090000Z-aaaaaa  2026-11-16T09:00:00.000Z  0.0      2        -      -        -        proved',
  ]);
});

test('--json prints the runs as a list, for all sources if none is given', async () => {
  await publishTwo();
  await publishLines(store, { place: 'files', run: wednesday });

  const { out } = await runs('--json');

  expect(JSON.parse(out)).toMatchObject([
    {
      source: 'calculations',
      run: tuesday.id,
      durationMs: 12_340,
      records: 20_000,
      against: monday.id,
      added: 3,
      removed: 1_200,
      changed: 0,
      consistency: 'best-effort',
      forced: true,
    },
    { source: 'calculations', run: monday.id, added: null, removed: null, changed: null, forced: false },
    { source: 'files', run: wednesday.id },
  ]);
});

test('--limit lists the newest runs and says how many more there are', async () => {
  await publishTwo();

  const { out, err } = await runs('calculations', '--limit', '1', '--json');

  expect(JSON.parse(out)).toMatchObject([{ run: tuesday.id }]);
  expect(err).toBe('1 earlier run not listed; use --limit to list more');
});

test('runs says if nothing has been published', async () => {
  const people = await runs();
  const machines = await runs('--json');

  expect(people).toEqual({ code: 0, out: 'nothing has been published in memory', err: '' });
  expect(machines.out).toBe('[]');
});

test('the command `runs` names a run whose manifest is missing or damaged, lists the other runs, and exits 3', async () => {
  await publishTwo();
  await publishLines(store, { run: wednesday, lines });
  const old = 'calculations/dt=2026-11-16/run=20261116T090000Z-aaaaaa/_manifest.json';
  await store.put(old, Buffer.from('{'));

  const { code, out, err } = await runs();

  expect(code).toBe(3);
  expect(out).toContain(wednesday.id);
  expect(out).toContain(tuesday.id);
  expect(err).toBe(
    `calculations: ${old} is not what platform-sync writes there (1 bytes that are not JSON); no other run is affected`,
  );
});

describe('runs --all', () => {
  const stopped: Run = { id: '20261118T080000Z-111111', startedAt: '2026-11-18T08:00:00.100Z' };
  const refused: Run = { id: '20261116T100000Z-222222', startedAt: '2026-11-16T10:00:00.000Z' };

  /** Stores a run under `work/` whose scan has ended and which the gates have judged. */
  const storeJudged = (place: Place, { id, startedAt }: Run, judged: Partial<Manifest>) =>
    store.put(
      `work/${place}/${id}/_manifest.json`,
      printStored(
        publishedManifest({
          source: place,
          run: id,
          startedAt,
          finishedAt: startedAt,
          records: 5,
          ...judged,
        }),
      ),
    );

  const begin = (place: Place, { startedAt }: Run) =>
    startRun(
      { source: place, compression: 'gzip', selection: {}, platform: 'example.com' },
      { store, now: () => Date.parse(startedAt), random: () => 1 / 15 },
    );

  test('lists unfinished, refused and superseded runs among the published ones, of every place', async () => {
    await publishTwo();
    await storeJudged('calculations', monday, {});
    await storeJudged('calculations', refused, {
      publishable: false,
      refused: ['shrunk', 'type', 'degraded'],
      degradedPages: 2,
    });
    await storeJudged(
      'calculations',
      { ...monday, id: '20261116T080000Z-333333' },
      { begunAfter: null, degradedPages: 3 },
    );
    await begin('calculations', stopped);
    await begin('cards.mine', stopped);

    const { code, out } = await runs('--all');
    const machines = await runs('--all', '--json');

    expect(code).toBe(0);
    expect(out.split('\n').map((line) => line.replaceAll(/ +/g, ' '))).toEqual([
      'SOURCE RUN STATE STARTED SECONDS RECORDS ADDED REMOVED CHANGED CONSISTENCY',
      'calculations 20261118T080000Z-111111 unfinished 2026-11-18T08:00:00.100Z - 0 - - - -',
      'calculations 20261117T090000Z-bbbbbb published 2026-11-17T09:00:00.000Z 12.3 20,000 3 1,200 0 best-effort forced over: degraded (1 page), unproved',
      'calculations 20261116T100000Z-222222 refused 2026-11-16T10:00:00.000Z 0.0 5 - - - proved refused as: shrunk, type, degraded (2 pages)',
      'calculations 20261116T090000Z-aaaaaa published 2026-11-16T09:00:00.000Z 0.0 2 - - - proved',
      'calculations 20261116T080000Z-333333 superseded 2026-11-16T09:00:00.000Z 0.0 5 - - - proved 3 pages stayed degraded',
      'cards.mine 20261118T080000Z-111111 unfinished 2026-11-18T08:00:00.100Z - 0 - - - -',
    ]);
    expect(JSON.parse(machines.out)).toMatchObject([
      { state: 'unfinished', finishedAt: null, records: 0, consistency: null, fault: null },
      { state: 'published' },
      { state: 'refused', refused: ['shrunk', 'type', 'degraded'], degradedPages: 2 },
      { state: 'published' },
      { state: 'superseded' },
      { source: 'cards.mine' },
    ]);
  });

  test('marks a run as superseded if a run from a clock that is years ahead was published while it ran', async () => {
    const ahead: Run = { id: '20990101T090000Z-cccccc', startedAt: '2099-01-01T09:00:00.000Z' };
    await publishLines(store, { run: ahead, lines });
    await storeJudged('calculations', monday, { begunAfter: null });

    const { out } = await runs('--all', '--json');

    expect(JSON.parse(out)).toMatchObject([{ run: ahead.id }, { run: monday.id, state: 'superseded' }]);
  });

  test('names a run that cannot be read, lists the other runs, and exits 3', async () => {
    await publishTwo();
    await begin('calculations', stopped);
    await store.put(`work/calculations/${refused.id}/_checkpoint.json`, Buffer.from('{'));
    const old = 'calculations/dt=2026-11-16/run=20261116T090000Z-aaaaaa/_manifest.json';
    await store.put(old, Buffer.from('{'));

    const { code, out, err } = await runs('--all', '--json');

    expect(code).toBe(3);
    expect(JSON.parse(out)).toMatchObject([
      { run: stopped.id, state: 'unfinished' },
      { run: tuesday.id, fault: null },
      { run: refused.id, state: 'damaged', fault: expect.stringContaining('_checkpoint.json is not what') },
      { run: monday.id, state: 'published', fault: expect.stringContaining(`${old} is not what`) },
    ]);
    expect(err.match(/no other run is affected/g)).toHaveLength(2);
  });

  test('limits each place, and says so if there are no runs at all', async () => {
    const none = await runs('--all');
    await publishTwo();
    await begin('calculations', stopped);

    const { out, err } = await runs('--all', '--limit', '1', '--json');

    expect(none.out).toBe('no runs in memory');
    expect(JSON.parse(out)).toMatchObject([{ run: stopped.id }]);
    expect(err).toBe('2 earlier runs not listed; use --limit to list more');
  });
});

test('a machine whose clock is two days slow hides no run from the list or from SQL, and never hides the newest run from prune', async () => {
  const back: Run = { id: '20261116T080000Z-444444', startedAt: '2026-11-16T08:00:00.000Z' };
  const later: Run = { id: '20261116T083000Z-555555', startedAt: '2026-11-16T08:30:00.000Z' };
  const newest = [later.id, wednesday.id, tuesday.id, back.id];
  let begunAfter: string | null = null;
  for (const run of [tuesday, wednesday, back, later]) {
    await publishLines(store, { run, lines: [`{"id":1,"name":"${run.id}"}`], manifest: { begunAfter } });
    begunAfter = run.id;
  }
  const say = async (...argv: readonly string[]) => (await run(...argv)).out;

  const listed = JSON.parse((await runs('calculations', '--json')).out);
  const rows = JSON.parse(
    await say('query', 'SELECT count(DISTINCT run) AS runs FROM all_calculations', '--json'),
  );
  const pruned = JSON.parse(await say('prune', 'calculations', '--keep', '2', '--dry-run', '--json'));

  expect(listed.map(({ run }: { run: string }) => run)).toEqual(newest);
  expect(rows).toEqual([{ runs: 4 }]);
  expect(pruned.runs.map(({ run }: { run: string }) => run).toSorted()).toEqual([back.id, tuesday.id]);
});
