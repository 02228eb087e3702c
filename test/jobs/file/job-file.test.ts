import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { Allow } from '../../../lib/jobs/allow.ts';
import { checkJobFile } from '../../../lib/jobs/file/job-file.ts';
import { folderOfEach } from '../../folder-of-each.ts';

const folder = folderOfEach();

async function checked(lines: readonly string[], allow: Allow = {}) {
  const text = lines.join('\n');
  const found = await checkJobFile({ file: 'jobs.ndjson', text, ids: 'new', allow });
  return 'faults' in found ? { faults: found.faults } : { messages: found.first };
}

const files = (id: string, more = '') => `{"version":1,"type":"data-files","id":"${id}","ids":[1${more}]}`;
const call =
  '{"version":1,"type":"run-function","packageId":"0f8fad5b-d9cb-469f-a165-70867728950e","packageVersion":"1","functionName":"f"}';

test('each line becomes a message of compact JSON with the digits of its ids; blank lines are skipped', async () => {
  const lines = [
    '\uFEFF{ "version": 1, "type": "data-files", "ids": [12345678901234567890] }\r',
    '',
    '  ',
    '{"version":1,"type":"score","texts":[{"id":"a","text":"fine"}]}',
  ];

  expect(await checked(lines)).toEqual({
    messages: [
      '{"version":1,"type":"data-files","ids":[12345678901234567890]}',
      '{"version":1,"type":"score","texts":[{"id":"a","text":"fine"}]}',
    ],
  });
});

test('a file that changes after its rows were checked is not read further', async () => {
  const file = join(folder.path, 'jobs.ndjson');
  await writeFile(file, files('a'));
  const found = await checkJobFile({ file, ids: 'required', allow: {} });
  if ('faults' in found) throw new Error(found.faults.join());
  expect(await Array.fromAsync(found.rows(), ({ id }) => id)).toEqual(['a']);

  await writeFile(file, `${files('a')}\n${files('b')}`);

  await expect(Array.fromAsync(found.rows())).rejects.toThrow(
    `${file} has changed since its rows were checked`,
  );
});

test('the size of a line in a message includes the escapes of characters that SQS refuses', async () => {
  const line = `{"version":1,"type":"score","texts":[{"id":"a","text":"${'\uFFFE'.repeat(60_000)}"}]}`;

  expect(await checked([line])).toEqual({
    faults: ['line 1: message: expected at most 262144 bytes of UTF-8, got 360059'],
  });
});

test('all faults of all lines are reported together, with the line numbers', async () => {
  const lines = [
    files('a'),
    '',
    '{',
    '{"version":2,"type":"data-files","ids":[]}',
    files('a', ',2'),
    files('a'),
    call,
  ];

  expect((await checked(lines, { types: ['data-files'] })).faults).toEqual([
    'line 3: message: expected JSON, got 1 characters that are invalid at column 1',
    'line 4: version: expected 1, the version of the message format, got 2',
    'line 4: ids: expected a list of 1 to 100, got a list of 0',
    'line 5: id: expected an id that no other line has, got a, which line 1 has',
    'line 6: id: expected an id that no other line has, got a, which line 1 has',
    expect.stringMatching(/^line 7: type: expected one that SYNC_ALLOW allows/),
  ]);
});

test('equal lines without an id are one job, so the second is refused; equal writes are separate jobs, with ids from the queue', async () => {
  const score = '{"version":1,"type":"score","texts":[{"id":"a","text":"fine"}]}';

  expect(await checked([call, call])).toEqual({ messages: [call, call] });
  expect(await checked([score, ` ${score}`])).toMatchObject({
    faults: [expect.stringMatching(/^line 2: id: .* which line 1 has$/)],
  });
});

/** The messages that a template makes of the rows of a CSV. */
async function jobsOf(
  rows: readonly string[],
  { file = 'orders.csv', json = {} as object, name = undefined as string | undefined } = {},
) {
  const path = join(folder.path, file);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, ['order,price', ...rows].join('\n'));
  const template = { type: 'data-files', ids: ['{{order}}', '{{price:number}}'], ...json };
  const found = await checkJobFile({ file: path, template, name, allow: {} });
  if ('faults' in found) return found.faults;
  return (await Array.fromAsync(found.rows())).map(({ body }) => JSON.parse(body));
}

const idsOf = async (...given: Parameters<typeof jobsOf>) => (await jobsOf(...given)).map(({ id }) => id);

test('a row becomes a message with an id from its content', async () => {
  const [job] = await jobsOf(['7,15'], { file: 'data/My orders (2).csv' });

  expect(job).toEqual({
    version: 1,
    type: 'data-files',
    ids: ['7', 15],
    id: expect.stringMatching(/^row\.[0-9a-f]{32}$/),
  });
});

test('a row keeps its id when other rows are added, removed or reordered, or the file moves; repeated rows get a number', async () => {
  const [a, b, c, again] = await idsOf(['1,11', '2,22', '3,33', '1,11']);

  expect(again).toBe(`${a}.2`);
  expect(await idsOf(['3,33', '1,11', '9,99', '1,11'], { file: 'elsewhere/orders.csv' })).toEqual([
    c,
    a,
    expect.not.stringContaining(String(b)),
    again,
  ]);
});

test('the id depends on the set, the content and the template, not on the name of the file', async () => {
  const ids = [
    await idsOf(['1,11']),
    await idsOf(['1,11'], { name: 'may' }),
    await idsOf(['1,11'], { name: 'row' }),
    await idsOf(['1,12']),
    await idsOf(['1,11'], { json: { expand: 'revisions' } }),
  ];

  expect(new Set(ids.flat()).size).toBe(5);
  expect(await idsOf(['1,11'], { file: 'other.csv' })).toEqual(ids[0]);
});

test('an id in the template is used, and a row that cannot be filled in is reported with its line', async () => {
  const json = { id: 'order-{{order}}' };

  expect(await jobsOf(['1,11'], { json })).toEqual([expect.objectContaining({ id: 'order-1' })]);
  expect(await jobsOf(['1,11', '2,x'], { json })).toEqual([
    'line 3: column price: expected a number, got "x"',
  ]);
});

test('a job file causes at most fifty warnings of what the platform may refuse, and counts the rest', async () => {
  const set = (id: number) =>
    `{"version":1,"type":"update-formula","id":"${id}","calculationId":"1","expression":"SQRT(1)"}`;
  const text = Array.from({ length: 53 }, (_, id) => set(id)).join('\n');

  const found = await checkJobFile({ file: 'jobs.ndjson', text, allow: {} });

  const warnings = 'faults' in found ? [] : found.warnings;
  expect(warnings).toHaveLength(51);
  expect(warnings[49]).toBe('line 50: expression:1:1: warning: The platform may not have a function "SQRT".');
  expect(warnings[50]).toBe('and 3 more');
});
