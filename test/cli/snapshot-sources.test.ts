import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { FileRow } from '../../lib/sandbox/platform/files/file-set.ts';
import { startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { cardsListed } from '../sandbox/platform/listed-cards.ts';
import { beginCommand, publishedIn, runCommand, settingsOf } from './run-command.ts';

const folder = folderOfEach();

const sandbox = await startPlatform({
  calculations: 60,
  datasets: 40,
  cards: 200,
  fileSets: 3,
  filesPerSet: 1_300,
  dataFiles: 12,
});

afterAll(() => sandbox.close());

const settings = () => settingsOf(sandbox, folder.path);

async function run(argv: readonly string[], input = '') {
  return runCommand(argv, settings(), input);
}

const published = (place: string) => publishedIn(folder.path, place);

/** Takes a narrowed snapshot, and returns its published run, whose place is named after the selection. */
async function narrowed(source: string) {
  const [place = '', ...more] = (await readdir(folder.path)).filter((name) => name.startsWith(source));
  if (more.length > 0 || place === source)
    throw new Error(`expected one narrowed place, got ${place} ${more}`);
  return published(place);
}

/** The expected lines of a snapshot of these FileSets, sorted. */
const fileLines = (filesets: readonly string[], matches: (row: FileRow) => boolean = () => true) =>
  filesets
    .flatMap((id) =>
      [...sandbox.files(id)]
        .filter((row) => matches(JSON.parse(row)))
        .map((row) => `{"_filesetId":"${id}",${row.slice(1)}`),
    )
    .sort();

describe('snapshot files', () => {
  test('takes all files of every named FileSet, in any order and case, and no other files', async () => {
    const [first = '', second = ''] = sandbox.ids().fileSets;

    const { code, out } = await run(['snapshot', 'files', '--fileset', second, '--fileset', first]);
    const argv = [first, second.toUpperCase(), second].flatMap((id) => ['--fileset', id]);
    const again = JSON.parse((await run(['snapshot', 'files', ...argv, '--json'])).out);

    const { manifest, lines } = await published('files');
    expect(again.changes).toMatchObject({ added: 0, removed: 0, changed: 0 });
    expect(code).toBe(0);
    expect(out).toMatch(/^files: 2,600 records/);
    expect(lines.toSorted()).toEqual(fileLines([first, second]));
    expect(manifest.selection).toEqual({ filesets: [first, second].sort() });
  });

  test.each<[string, readonly string[], (row: FileRow) => boolean, object]>([
    [
      'a directory',
      ['--directory', '/Archive'],
      ({ path }) => path.startsWith('/Archive/'),
      { directory: '/Archive' },
    ],
    [
      'what is directly in a directory',
      ['--directory', 'Archive/', '--immediate'],
      ({ path }) => /^\/Archive\/[^/]*$/.test(path),
      { directory: 'Archive/', immediate: true },
    ],
    [
      'one of several values',
      ['--where', 'fileType:IN:TEXT,IMAGE'],
      ({ fileType }) => fileType === 'TEXT' || fileType === 'IMAGE',
      { where: [{ field: 'fileType', operator: 'IN', value: ['TEXT', 'IMAGE'] }] },
    ],
    [
      'two filters together',
      ['--where', 'hash:!IS_NULL', '--where', 'indexStatus:EQUALS:FAILED'],
      ({ hash, indexStatus }) => hash !== null && indexStatus === 'FAILED',
      {
        where: [
          { field: 'hash', operator: 'IS_NULL', value: [], not: true },
          { field: 'indexStatus', operator: 'EQUALS', value: ['FAILED'] },
        ],
      },
    ],
    [
      'those created since a date and until a time',
      ['--since', '2024-06-01', '--until', '2025-06-01T02:00:00+02:00'],
      ({ created }) => created >= '2024-06-01T00:00:00.000Z' && created <= '2025-06-01T00:00:00.000Z',
      { since: '2024-06-01T00:00:00.000Z', until: '2025-06-01T00:00:00.000Z' },
    ],
  ])(
    'takes exactly the files that match %s, and records that in the manifest',
    async (_, flags, matches, selection) => {
      const [fileset = ''] = sandbox.ids().fileSets;

      const { code } = await run(['snapshot', 'files', '--fileset', fileset, ...flags]);

      const { manifest, lines } = await narrowed('files');
      const expected = fileLines([fileset], matches);
      expect(code).toBe(0);
      expect(lines.toSorted()).toEqual(expected);
      expect(manifest.selection).toEqual({ filesets: [fileset], ...selection });
      expect(expected.length).toBeGreaterThan(0);
      expect(expected.length).toBeLessThan(1_300);
    },
  );

  test('exits with 3, without a request, if the FileSets differ from the last run’s; --force or another place (--as) allows it', async () => {
    const [first = '', second = ''] = sandbox.ids().fileSets;
    const other = ['snapshot', 'files', '--fileset', second];
    await run(['snapshot', 'files', '--fileset', first]);
    const before = sandbox.counts().requests;

    const refused = await run([...other, '--json']);

    expect(sandbox.counts().requests).toBe(before);
    expect({ ...refused, out: JSON.parse(refused.out) }).toMatchObject({
      code: 3,
      out: { source: 'files', refused: ['selection'], published: false },
      err: expect.stringMatching(
        /not started, since the run would be refused publication \(selection\): .*nothing was requested/,
      ),
    });
    expect((await run([...other, '--as', 'second'])).code).toBe(0);
    expect((await published('files')).manifest.selection).toEqual({ filesets: [first] });
    expect((await run([...other, '--force'])).code).toBe(0);
    expect((await published('files')).manifest.selection).toEqual({ filesets: [second] });
  });
});

describe('snapshot calculations with a filter', () => {
  test('has its own place, and does not affect the whole snapshot', async () => {
    await run(['snapshot', 'calculations']);
    const expected = [...sandbox.calculations()].filter((line) => JSON.parse(line).locked === true);

    const { code, out } = await run(['snapshot', 'calculations', '--filter', 'locked', '--as', 'locked']);

    const { manifest, lines } = await published('calculations.locked');
    expect(code).toBe(0);
    expect(out).toMatch(/^calculations\.locked: /);
    expect(manifest).toMatchObject({ source: 'calculations.locked', selection: { filters: ['locked'] } });
    expect(lines).toEqual(expected);
    expect(expected.length).toBeGreaterThan(0);
    expect((await published('calculations')).manifest.records).toBe(60);
  });

  test('takes the calculations of the given owner, dataset or card', async () => {
    const all = [...sandbox.calculations()];
    const owners = all.map((line) => String(JSON.parse(line).owner));
    const [first = ''] = owners;
    const dataset = sandbox.ids().datasets[0] ?? '';
    const filters = ['--filter', `owner:${first},0`, '--filter', `not dataset:${dataset}`];
    const expected = all.filter(
      (line) => String(JSON.parse(line).owner) === first && !line.includes(dataset),
    );

    const { code, err } = await run(['snapshot', 'calculations', ...filters, '--as', 'owned']);

    const { manifest, lines } = await published('calculations.owned');
    expect(code, JSON.stringify(err)).toBe(0);
    expect(manifest.selection).toEqual({ filters: [`owner:${first},0`, `not dataset:${dataset}`] });
    expect(lines).toEqual(expected);
    expect(expected.length).toBeGreaterThan(0);
    expect(expected.length).toBeLessThan(all.length);
  });

  test('takes the records that the search for a name finds', async () => {
    const [first = ''] = sandbox.calculations();
    const { name } = JSON.parse(first) as { readonly name: string };
    const expected = [...sandbox.calculations()].filter((line) => JSON.parse(line).name.includes(name));

    const { code } = await run(['snapshot', 'calculations', '--name', name, '--as', 'named']);

    const { manifest, lines } = await published('calculations.named');
    expect(code).toBe(0);
    expect(lines).toEqual(expected);
    expect(manifest.selection).toEqual({ name });
  });
});

/** The dataset and id of each card that a snapshot of these datasets must have. */
const cardsOf = (datasets: readonly string[], drill = true) =>
  datasets
    .toSorted()
    .flatMap((dataset) =>
      cardsListed(sandbox.state, sandbox.ids().datasets.indexOf(dataset), drill).map(({ id }) => [
        dataset,
        id,
      ]),
    );

const cardsIn = (lines: readonly string[]) =>
  lines.map((line) => {
    const { _datasetId, datasourceId, id } = JSON.parse(line);
    return [_datasetId ?? datasourceId, id];
  });

const LINK = /"type":"DATA_SOURCE","id":"([^"]+)"/g;

describe('snapshot cards', () => {
  test.each([
    [true, []],
    [false, ['--no-drill']],
  ])(
    'takes the cards of each named dataset, without those that use it only in a drill: %s',
    async (drill, flags) => {
      const { datasets } = sandbox.ids();

      const { code } = await run([
        'snapshot',
        'cards',
        ...flags,
        ...datasets.flatMap((id) => ['--dataset', id]),
      ]);

      const { manifest, lines } = await narrowed('cards');
      expect(code).toBe(0);
      expect(cardsIn(lines)).toEqual(cardsOf(datasets, drill));
      expect(cardsOf(datasets, false).length).toBeLessThan(cardsOf(datasets).length);
      expect(manifest.selection).toEqual({ datasets: datasets.toSorted(), drill });
      expect(manifest.idsFrom).toBeUndefined();
    },
  );

  test('takes the datasets from a file or from standard input, and records where they came from', async () => {
    const datasets = sandbox.ids().datasets.slice(0, 4);
    const file = join(folder.path, 'datasets.txt');
    await writeFile(file, `\uFEFF${datasets.join(' \r\n\n')}\r\n`);

    const fromFile = await run(['snapshot', 'cards', '--datasets-from', file]);
    const first = await narrowed('cards');
    const fromInput = await run(
      ['snapshot', 'cards', '--datasets-from', '-'],
      datasets.toReversed().join('\n'),
    );
    const second = await narrowed('cards');

    expect([fromFile.code, fromInput.code]).toEqual([0, 0]);
    expect(fromFile.out).toContain(`ids from: ${file}`);
    expect([first.manifest.idsFrom, second.manifest.idsFrom]).toEqual([file, 'standard input']);
    expect(cardsIn(first.lines)).toEqual(cardsOf(datasets));
    expect(second.lines).toEqual(first.lines);
  });

  test('of one dataset does not prevent snapshots of all cards from being published before and after it', async () => {
    const [dataset = ''] = sandbox.ids().datasets;
    await run(['snapshot', 'calculations']);

    const one = await run(['snapshot', 'cards', '--dataset', dataset]);
    const used = await run(['where-used', dataset]);
    const all = await run(['snapshot', 'cards']);
    const again = await run(['snapshot', 'cards', '--dataset', dataset]);

    expect([one, all, again].map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(one.out).toMatch(new RegExp(`^cards\\.${dataset}-[0-9a-f]{8}: `));
    expect(used.code).toBe(0);
    expect((await published('cards')).manifest.selection).toMatchObject({ datasets: 'calculations' });
    expect(again.out).toContain('changes: 0 added, 0 removed, 0 changed');
  });

  test('takes every dataset that the last published calculations link to, if no ids are given', async () => {
    await run(['snapshot', 'calculations']);
    const { run: calculationsRun } = (await published('calculations')).manifest;
    const linked = new Set(
      [...sandbox.calculations()].flatMap((line) => [...line.matchAll(LINK)].map(([, id = '']) => id)),
    );

    const { code, out } = await run(['snapshot', 'cards']);

    const { manifest, lines } = await published('cards');
    // Some calculations link to datasets that no longer exist. They are no failure, since the user did not name them.
    expect(manifest.missing).not.toEqual([]);
    expect(code).toBe(0);
    expect(cardsIn(lines)).toEqual(cardsOf([...linked]));
    expect(linked.size).toBeLessThan(40);
    expect(manifest).toMatchObject({
      selection: { datasets: 'calculations', drill: true },
      idsFrom: `calculations, run ${calculationsRun}`,
    });
    expect(out).toContain(`ids from: calculations, run ${calculationsRun}`);
  });

  test('does not ask again for datasets that no longer exist, and reports them as missing in one line', async () => {
    await run(['snapshot', 'calculations']);
    await run(['snapshot', 'cards']);
    const first = (await published('cards')).manifest;

    const { code, out } = await run(['snapshot', 'cards']);

    const { manifest } = await published('cards');
    expect(code).toBe(0);
    expect(manifest.missing).toEqual(first.missing);
    expect(manifest.calls.requests).toBe(first.calls.requests - first.missing.length);
    expect(out.match(/^(missing|incomplete).*$/gm)).toEqual([
      expect.stringMatching(/^missing: .* \((404|410)\)/),
    ]);
  });

  test('leaves nothing behind if it is stopped while it finds the datasets', async () => {
    await run(['snapshot', 'calculations']);

    const stopping = beginCommand(['snapshot', 'cards'], settings());
    stopping.interrupt();
    const { code, err } = await stopping.ended;

    expect(code).toBe(130);
    expect(err).not.toContain('to resume');
    expect((await run(['runs', 'cards', '--all', '--json'])).out).toBe('[]');
  });
});

describe('snapshot data-files', () => {
  test('takes the metadata with revisions of each id, in the order of ids', async () => {
    const [first = '', second = ''] = sandbox.ids().dataFiles;

    const { code } = await run(['snapshot', 'data-files', '--id', second, '--id', `00${first}`]);

    const { manifest, lines } = await published('data-files');
    expect(code).toBe(0);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { dataFileId: Number(first), revisions: sandbox.state.dataFile(first)?.revisions },
      { dataFileId: Number(second), revisions: sandbox.state.dataFile(second)?.revisions },
    ]);
    expect(manifest.selection).toEqual({ ids: [first, second] });
  });

  test('reports ids that do not exist as missing, and exits 3', async () => {
    const { dataFiles } = sandbox.ids();

    const { code, out } = await run(
      ['snapshot', 'data-files', '--ids-from', '-'],
      ['7', ...dataFiles, '9007199254740993'].join('\n'),
    );

    const { manifest } = await published('data-files');
    expect(code).toBe(3);
    expect(out).toContain('missing: 7 (404), 9007199254740993 (404)');
    expect(manifest).toMatchObject({
      records: 12,
      idsFrom: 'standard input',
      missing: [
        { id: '7', status: 404 },
        { id: '9007199254740993', status: 404 },
      ],
    });
  });
});
