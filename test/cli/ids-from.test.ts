import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { runCommand, settingsOf } from './run-command.ts';

const folder = folderOfEach();
const at = (name: string) => join(folder.path, name);

const sandbox = await startPlatform({ calculations: 0, datasets: 2, cards: 2, fileSets: 0, dataFiles: 2 });
afterAll(() => sandbox.close());

const { dataFiles, datasets } = sandbox.ids();
const [one = '', two = ''] = dataFiles;

const run = (argv: readonly string[]) => runCommand(argv, settingsOf(sandbox, at('store')));

async function idsIn(text: string, ...flags: readonly string[]) {
  await writeFile(at('ids.csv'), text);
  const { code, out, err } = await run([
    ...['snapshot', 'data-files', '--ids-from', at('ids.csv'), ...flags],
    ...['--as', 'some', '--json'],
  ]);
  return code === 0 ? JSON.parse(out).selection.ids : err;
}

test.each([
  ['the column of ids', `Name;Data File ID\n"a; b";${one}\nb;${two}\n`, []],
  ['the only column', `dataFile\n${one}\n${two}\n`, []],
  ['the column that --ids-column names', `id,Which one\n7,${one}\n8,${two}\n`, ['--ids-column', 'Which one']],
  ['one of a name without a separator', `which\n${one}\n${two}\n`, ['--ids-column', 'which']],
  ['ids in quotes', `"${one}"\n"${two}"\n`, []],
  ['a JSON list', `[${one}, "${two}"]`, []],
  [
    'a JSON list of objects',
    `[\n{"dataFileId": ${one}, "name": "a"},\n{"name": "b", "dataFileId": "${two}"}]`,
    [],
  ],
  ['lines of JSON', `{"dataFileId":${one}}\n\n{"dataFileId":${two}}\n`, []],
  ['the member that --ids-column names', `{"a":${one},"id":1}\n{"a":${two},"id":2}\n`, ['--ids-column', 'a']],
  ['ids that have blanks around them, between blank lines', `\n ${one} \n\n${two}\n`, []],
])('--ids-from accepts %s', async (_, text, flags) => {
  expect(await idsIn(text, ...flags)).toEqual([one, two]);
});

test.each([
  [
    'no column of ids',
    `Name,Which one\na,${one}\n`,
    [],
    'line 1: expected one id a line, or a CSV with one column of ids, got the columns "Name", "Which one": choose one with --ids-column',
  ],
  [
    'an object without an id',
    `{"dataFileId":${one}}\n{"x":1}\n`,
    [],
    'line 2: expected the digits of a data file’s id, or an object that has it, got an object with "x": choose one with --ids-column',
  ],
  [
    'a list in a list',
    '[[1]]',
    [],
    'line 1: expected the digits of a data file’s id, or an object that has it, got a list of 1',
  ],
  [
    'two columns of ids',
    `id,dataFileId\n1,${one}\n`,
    [],
    'line 1: expected one id a line, or a CSV with one column of ids, got the columns "id", "dataFileId": choose one with --ids-column',
  ],
  [
    'no column of the given name',
    'id,b\n1,2\n',
    ['--ids-column', 'c'],
    'line 1: columns: expected "c", got a header with "id", "b"',
  ],
  [
    'the given column twice',
    'a,a\n1,2\n',
    ['--ids-column', 'a'],
    'line 1: the header: expected each requested name only once',
  ],
  [
    'a row without an id',
    `id,b\n${one},x\n,y\n`,
    [],
    'line 3: expected the digits of a data file’s id, got ""',
  ],
  ['a text in a list', `${one}\nabc\n`, [], 'line 2: expected the digits of a data file’s id, got "abc"'],
  ['a header alone', 'id,b\n', [], 'line 1: expected at least one id'],
])('--ids-from refuses a file that has %s, before any request', async (_, text, flags, words) => {
  const before = sandbox.counts().requests;

  expect(await idsIn(text, ...flags)).toContain(`${at('ids.csv')}: ${words}`.replace(/^.*: name/, 'name'));
  expect(sandbox.counts().requests).toBe(before);
});

test('--datasets-column names the column of --datasets-from', async () => {
  await writeFile(at('sets.csv'), `id,Set\n1,${datasets[0]}\n2,${datasets[1]}\n`);

  const argv = ['--datasets-from', at('sets.csv'), '--datasets-column', 'Set', '--as', 'some', '--json'];
  const { out } = await run(['snapshot', 'cards', ...argv]);

  expect(JSON.parse(out).selection.datasets.toSorted()).toEqual([...datasets].toSorted());
});
