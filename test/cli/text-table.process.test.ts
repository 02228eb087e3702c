import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { runCommand, settingsOf } from './run-command.ts';
import { ALL_CASES, faultOf, fileOf, outcomeOf, SAVED_AS } from './text-table.ts';

const folder = folderOfEach();
const at = (name: string) => join(folder.path, name);

test('the whole table: each cell is right, or the file is refused by file, line and remedy', async () => {
  const faults = [];
  for (const one of ALL_CASES) faults.push(faultOf(one, await outcomeOf(one, folder.path)));

  expect(faults.filter((fault) => fault !== undefined)).toEqual([]);
}, 600_000);

const READ = `
import csv, json, sys
with open(sys.argv[1], encoding=sys.argv[2], newline='') as f: text = f.read()
rows = list(csv.reader(text.removeprefix('\\ufeff').splitlines(True), delimiter=sys.argv[3]))
print(json.dumps([row[:3] for row in rows]))
`;

const PYTHON: Readonly<Record<string, string>> = { macintosh: 'mac_roman' };

/** Every form in which a file comes, without a defect. */
const FORMS = ALL_CASES.filter(({ defect }) => defect === 'none');

test('outputs have the form of their files, as Python reads it', async () => {
  await using sandbox = await startPlatform({
    ...{ calculations: 0, datasets: 0, cards: 0, fileSets: 0, dataFiles: 0, latencyMs: 0 },
  });
  const environment = { ...settingsOf(sandbox, at('store')), LOG_LEVEL: 'silent' };
  const wrong = [];
  for (const [index, one] of FORMS.entries()) {
    const { rows, bytes } = fileOf(one);
    const [encoding] = SAVED_AS[one.savedAs];
    await writeFile(at('rows.csv'), bytes);
    const named = SAVED_AS[one.savedAs][1] ? [] : ['--encoding', encoding];
    const argv = [
      'score',
      at('rows.csv'),
      '--text',
      'text',
      '--id',
      'id',
      '--output',
      at('scored.csv'),
      // Two of one second would have one name.
      ...['--batch', `form-${index}`],
      ...named,
    ];
    const { code, err } = await runCommand(argv, environment);
    const { stdout, stderr } = spawnSync('python3', [
      ...['-c', READ, at('scored.csv'), PYTHON[encoding] ?? encoding, one.separator],
    ]);
    const expected = JSON.stringify([['id', 'text', 'note'], ...rows]);
    const read = stdout.toString() === '' ? stderr.toString() : JSON.stringify(JSON.parse(stdout.toString()));
    if (code !== 0 || read !== expected) wrong.push([one, code, err, read]);
  }

  expect(wrong).toEqual([]);
}, 600_000);
