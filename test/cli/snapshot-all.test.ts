import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { publishedIn, runCommand, settingsOf } from './run-command.ts';

const folder = folderOfEach();

const sandbox = await startPlatform({
  calculations: 60,
  datasets: 4,
  cards: 20,
  fileSets: 2,
  filesPerSet: 30,
  dataFiles: 3,
});

afterAll(() => sandbox.close());

type Printed = readonly {
  readonly source: string;
  readonly outcome?: string;
  readonly error?: { readonly kind: string };
}[];

async function run(argv: readonly string[], input = '') {
  return runCommand(argv, settingsOf(sandbox, folder.path), input);
}

async function takeAll() {
  const { code, out, err } = await run(['snapshot', 'all', '--no-tables', '--json']);
  const ends = (JSON.parse(out) as Printed).map(({ source, outcome, error }) => [
    source,
    outcome ?? error?.kind,
  ]);
  return { code, ends, err };
}

const published = (place: string) => publishedIn(folder.path, place);

test('in an empty store, snapshot all takes all calculations and then the cards of their datasets', async () => {
  const { code, ends } = await takeAll();

  expect({ code, ends }).toEqual({
    code: 0,
    ends: [
      ['calculations', 'published'],
      ['cards', 'published'],
    ],
  });
  expect((await published('cards')).manifest.selection).toEqual({ datasets: 'calculations', drill: true });
});

test('snapshot all repeats each published place with its selection, wherever its ids came from', async () => {
  const [first = ''] = sandbox.ids().fileSets;
  const ids = sandbox.ids().dataFiles.join('\n');
  const taken = [
    await run(['snapshot', 'calculations', '--name', 'Revenue', '--as', 'revenue', '--no-tables']),
    await run(['snapshot', 'files', '--fileset', first, '--since', '2020-01-01', '--no-tables']),
    await run(['snapshot', 'data-files', '--ids-from', '-', '--no-tables'], ids),
  ];
  const place = /(files\.\S+): run/.exec(taken[1]?.err ?? '')?.[1] ?? '';
  const before = await Promise.all(['calculations.revenue', place, 'data-files'].map(published));

  const { code, ends } = await takeAll();

  expect(taken.map((each) => each.code)).toEqual([0, 0, 0]);
  expect({ code, ends }).toEqual({
    code: 0,
    ends: [
      ['calculations.revenue', 'published'],
      [place, 'published'],
      ['data-files', 'published'],
    ],
  });
  const after = await Promise.all(['calculations.revenue', place, 'data-files'].map(published));
  for (const [at, { manifest, lines }] of after.entries()) {
    expect(manifest.run).not.toBe(before[at]?.manifest.run);
    expect(manifest.selection).toEqual(before[at]?.manifest.selection);
    expect(lines.length).toBe(before[at]?.lines.length);
  }
});

/** Runs `snapshot all` against another platform. The store takes it for the same one, since both are on loopback. */
async function takeAllFrom(platform: Awaited<ReturnType<typeof startPlatform>>) {
  const argv = ['snapshot', 'all', '--no-tables', '--json'];
  const { code, out, err } = await runCommand(argv, settingsOf(platform, folder.path));
  return { code, found: JSON.parse(out) as unknown, err };
}

test('a place that is refused or fails does not stop the next one, and the worst outcome decides the exit code', async () => {
  await run(['snapshot', 'data-files', '--id', sandbox.ids().dataFiles[0] ?? '', '--no-tables']);
  await run(['snapshot', 'calculations', '--no-tables']);
  await using emptied = await startPlatform({ calculations: 0, dataFiles: 3 });

  const refused = await takeAllFrom(emptied);
  await writeFile(join(folder.path, 'calculations', 'latest.json'), 'not JSON');
  const failed = await takeAllFrom(emptied);

  expect(refused).toMatchObject({
    code: 3,
    found: [
      { source: 'calculations', outcome: 'refused', refused: ['empty'] },
      { source: 'data-files', outcome: 'published' },
    ],
  });
  expect(failed).toMatchObject({
    code: 1,
    found: [
      { source: 'calculations', error: { kind: 'object', message: expect.stringContaining('latest.json') } },
      { source: 'data-files', outcome: 'published' },
    ],
  });
});

test('an unnamed place whose datasets no longer exist does not fail snapshot all, but a named place does', async () => {
  const [dataset = ''] = sandbox.ids().datasets;
  await run(['snapshot', 'cards', '--dataset', dataset, '--no-tables']);
  await using other = await startPlatform({ calculations: 0, datasets: 0, cards: 0 });

  const unnamed = await takeAllFrom(other);
  await run(['snapshot', 'cards', '--dataset', dataset, '--as', 'wanted', '--no-tables']);
  const named = await takeAllFrom(other);

  expect(unnamed).toMatchObject({
    code: 0,
    found: [{ refused: ['empty', 'incomplete'] }],
    err: expect.stringContaining('none of its records exists any longer'),
  });
  expect(named).toMatchObject({
    code: 3,
    found: [{}, { source: 'cards.wanted', refused: ['empty', 'incomplete'] }],
  });
});
