import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { codePackages } from '../../lib/sandbox/platform/functions/packages.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { runCommand } from './run-command.ts';
import { startJobs } from './start-jobs.ts';

const folder = folderOfEach();

const TEMPLATE = {
  type: 'run-function',
  packageId: codePackages[0]?.id,
  packageVersion: '1.0.0',
  functionName: 'addNumbers',
  inputVariables: { first: '{{a:number}}', second: '{{b:number}}' },
};

/** Files of these contents, and the arguments that submit them. */
async function given(csv: string | Buffer, template: object | string = TEMPLATE): Promise<readonly string[]> {
  const [table, json] = [join(folder.path, 'sums.csv'), join(folder.path, 'job.json')];
  await writeFile(table, csv);
  await writeFile(json, typeof template === 'string' ? template : JSON.stringify(template));
  return ['submit', '--from-csv', table, '--template', json];
}

async function run(argv: readonly string[]) {
  return runCommand(argv);
}

test('a dry run checks every row, and shows the first three jobs', async () => {
  const argv = await given(Buffer.from('\uFEFFa;b\r\n1;2\r\n3;4\r\n5;6\r\n7;8\r\n', 'utf16le'));

  const people = await run([...argv, '--dry-run']);
  const machines = JSON.parse((await run([...argv, '--dry-run', '--json'])).out);

  const shown = people.out.split('\n');
  expect(people.code).toBe(0);
  expect(shown.slice(0, 3).map((line) => JSON.parse(line).inputVariables)).toEqual([
    { first: 1, second: 2 },
    { first: 3, second: 4 },
    { first: 5, second: 6 },
  ]);
  expect(shown.slice(3)).toEqual(['and 1 job more', '4 jobs would be sent; nothing was sent']);
  expect(machines).toMatchObject({
    dryRun: true,
    sent: 0,
    first: [{ inputVariables: { first: 1 } }, {}, {}],
  });
  expect(machines.ids).toHaveLength(4);
});

test.each<[string, object | string, string]>([
  [
    'a,b\n1,2\n',
    { ...TEMPLATE, id: '{{bb}}', functionName: '{{ c }}' },
    '{{bb}}: expected a column of the CSV',
  ],
  ['a,b\n1,2\n3\n', TEMPLATE, 'line 3: the row: expected 2 fields, got 1'],
  ['a,b\n1,2\n3,x\n', TEMPLATE, 'line 3: column b: expected a number, got "x"'],
  [
    'a,b\n1,2\n3,4\n',
    { ...TEMPLATE, id: 'same' },
    'line 3: id: expected an id that no other line has, got same',
  ],
  ['a,b\n1,2\n', { ...TEMPLATE, packageId: 'none' }, 'line 2: packageId: expected'],
  ['a,b\n', TEMPLATE, 'expected at least one job, got none'],
  ['a,a\n', TEMPLATE, 'the header line: expected each name once'],
  ['PK\u0003\u0004', TEMPLATE, 'got a ZIP archive or an Excel workbook'],
  ['a,b\n1,2\n', '{"type":', 'expected a job as JSON'],
])('%j by %j is refused: nothing is sent', async (csv, template, fault) => {
  const { code, out, err } = await run([...(await given(csv, template)), '--dry-run']);

  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toContain(fault);
});

test.each([
  [['submit'], 'expected a file of jobs, or --from-csv, got neither'],
  [['submit', 'a', '--from-csv', 'b', '--template', 'c'], 'got both'],
  [['submit', '--from-csv', 'b'], 'expected --from-csv and --template together, got --from-csv alone'],
  [['submit', 'a', '--template', 'c'], 'got --template alone'],
  [
    ['submit', '--from-csv', 'no/such', '--template', 'no/such', '--dry-run'],
    'no/such: expected a file that can be read',
  ],
])('%j is wrong usage', async (argv, fault) => {
  const { code, err } = await run(argv);

  expect(code).toBe(2);
  expect(err).toContain(fault);
});

test('a file that is submitted again, with a row more, runs only that row', async () => {
  await using jobs = await startJobs();

  await jobs.run(await given('a,b\n1,2\n3,4\n1,2\n'));
  await jobs.run(['work', '--drain']);
  const again = await jobs.run([...(await given('a,b\n5,6\n3,4\n1,2\n1,2\n')), '--json']);
  await jobs.run(['work', '--drain']);

  expect(JSON.parse(again.out)).toMatchObject({ sent: 4, notSent: [] });
  expect(jobs.sandbox.counts().executions).toHaveLength(4);
});
