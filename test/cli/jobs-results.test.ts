import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { storedResults } from '../../lib/jobs/result.ts';
import { createDirectoryStore } from '../../lib/store/directory.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { createMemoryStore } from '../store/memory-store.ts';
import { runCommand } from './run-command.ts';

const folder = folderOfEach();

const result = (
  id: string,
  finishedAt: string,
  more = '"status":"done","response":{"n":12345678901234567890}',
) =>
  Buffer.from(
    `{"version":1,"id":"${id}","type":"run-function","attempts":1,"finishedAt":"${finishedAt}",${more}}\n`,
  );

async function run(objects: Readonly<Record<string, Buffer>>, ...argv: readonly string[]) {
  const store = createDirectoryStore(join(folder.path, 'store'));
  for (const [key, body] of Object.entries(objects)) await store.put(key, body);
  return runCommand(['jobs', 'results', ...argv], { SYNC_STORE: join(folder.path, 'store') });
}

const OBJECTS = {
  'results/run-function/dt=2026-11-01/a.json': result('a', '2026-11-01T10:00:00.000Z'),
  'results/run-function/dt=2026-11-20/b.json': result(
    'b',
    '2026-11-21T10:00:00.000Z',
    '"status":"unknown","error":{"kind":"lost","message":"no, \\"really\\""}',
  ),
  'results/score/dt=2026-11-21/c.json': result('c', '2026-11-21T11:00:00.000Z'),
};

test('jobs --output writes all results to one file, unchanged, and counts them', async () => {
  const file = join(folder.path, 'results.ndjson.gz');

  const { code, out } = await run(OBJECTS, '--output', file);

  expect({ code, out }).toEqual({ code: 0, out: `${file}: 3 results: 2 done, 1 unknown` });
  expect(gunzipSync(await readFile(file)).toString()).toBe(Object.values(OBJECTS).map(String).join(''));
});

test('jobs --output writes CSV, and can select one type and a time', async () => {
  const file = join(folder.path, 'results.csv');

  const { code, out } = await run(
    OBJECTS,
    ...['--output', file, '--type', 'run-function', '--since', '2026-11-21', '--json'],
  );

  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual({ file, results: 1, byStatus: { unknown: 1 }, broken: 0 });
  expect((await readFile(file, 'utf8')).split('\r\n')).toEqual([
    'id,type,status,attempts,startedAt,finishedAt,sender,note,error,response',
    'b,run-function,unknown,1,,2026-11-21T10:00:00.000Z,,,"{""kind"":""lost"",""message"":""no, \\""really\\""""}",',
    '',
  ]);
});

test('long numbers of a response keep their digits', async () => {
  const file = join(folder.path, 'results.tsv');

  await run(OBJECTS, '--output', file, '--type', 'score');

  expect(await readFile(file, 'utf8')).toContain('\t"{""n"":12345678901234567890}"\r\n');
});

test('jobs --output names and skips an object that is not a result, and exits 3', async () => {
  const file = join(folder.path, 'results.csv');

  const { code, out, err } = await run(
    { ...OBJECTS, 'results/score/dt=2026-11-21/d.json': Buffer.from('<html>') },
    '--output',
    file,
  );

  expect({ code, out }).toEqual({ code: 3, out: `${file}: 3 results: 2 done, 1 unknown` });
  expect(err).toContain('results/score/dt=2026-11-21/d.json is not the result of a job');
});

test('a job that was claimed long before it ended is found by the time it ended; many results are read in order', async () => {
  const store = createMemoryStore();
  const ids = Array.from({ length: 50 }, (_, at) => `job-${String(at).padStart(2, '0')}`);
  for (const id of ids)
    await store.put(`results/x/dt=2026-10-25/${id}.json`, result(id, '2026-11-21T10:00:00.000Z'));

  const found = await Array.fromAsync(storedResults(store, { sinceMs: Date.parse('2026-11-21T00:00:00Z') }));

  expect(found.map(({ value }) => value?.['id'])).toEqual(ids);
});
