import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { costOfBatch } from '../../lib/cli/commands/score.ts';
import { readMonthCost } from '../../lib/report/collect/month-cost.ts';
import { codePackages } from '../../lib/sandbox/platform/functions/packages.ts';
import { startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { createDirectoryStore } from '../../lib/store/directory.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { json, type Reply, startServer } from '../platform/scripted-server.ts';
import { runCommand, settingsOf } from './run-command.ts';

const folder = folderOfEach();
const sandbox = await startPlatform({
  calculations: 20,
  datasets: 1,
  cards: 0,
  fileSets: 0,
  dataFiles: 0,
});

afterAll(() => sandbox.close());

const PRICES = '{"unit":"credits","score":1.5,"run-function":0.5,"update-formula":2}';

const run = (line: string, more: Readonly<Record<string, string>> = { PLATFORM_PRICES: PRICES }) =>
  runCommand(
    line.split(' ').map((word) => word.replace('FOLDER', folder.path)),
    { ...settingsOf(sandbox, join(folder.path, 'store')), LOG_LEVEL: 'silent', ...more },
  );

async function write(name: string, text: string): Promise<void> {
  await mkdir(folder.path, { recursive: true });
  await writeFile(join(folder.path, name), text);
}

const add = (id: string, second = 2) => ({
  version: 1,
  type: 'run-function',
  id,
  packageId: codePackages[0]?.id,
  packageVersion: '1.0.0',
  functionName: 'addNumbers',
  inputVariables: { first: 1, second },
});

const texts = (id: string, ...all: readonly string[]) => ({
  version: 1,
  type: 'score',
  id,
  texts: all.map((text, at) => ({ id: String(at), text })),
});

const lines = (...jobs: readonly object[]) => jobs.map((job) => `${JSON.stringify(job)}\n`).join('');

describe('score', () => {
  test('says its maximum cost, its actual cost, and that texts from the cache are free', async () => {
    await write('a.csv', 'text\ngood\nbad\ngood\n');

    const before = await run('score FOLDER/a.csv --text text --dry-run');
    const done = await run('score FOLDER/a.csv --text text --batch a --json');
    const again = await run('score FOLDER/a.csv --text text --batch b');
    const after = await run('score FOLDER/a.csv --text text --dry-run --json');

    expect(before.out).toContain('\nwould cost at most 3 credits, if no call is repeated\n');
    expect(JSON.parse(done.out)).toMatchObject({ cost: { unit: 'credits', amount: 3, possibly: 0 } });
    expect(again.out).toContain('\ncost: 0 credits\n');
    expect(JSON.parse(after.out)).toMatchObject({ cost: { unit: 'credits', amount: 0, possibly: 0 } });
  });

  test('counts calls that scored no text as possibly paid', () => {
    const prices = { unit: 'credits', score: 2 };

    expect(costOfBatch({ calls: 5, scored: 4, cached: 1 }, prices)).toEqual({
      unit: 'credits',
      amount: 10,
      possibly: 4,
    });
  });

  test('does not mention money if no prices are configured', async () => {
    await write('a.csv', 'text\ngood\n');

    const { out } = await run('score FOLDER/a.csv --text text --dry-run', {});

    expect(out).not.toContain('cost');
  });
});

describe('the cost of jobs', () => {
  test('is given as the maximum for those that have not ended, and as the actual cost once they run', async () => {
    await write('jobs.ndjson', lines(add('a'), add('b', 3), texts('c', 'fine', 'so so')));
    await write('first.ndjson', lines(add('a')));

    const queued = await run('submit FOLDER/jobs.ndjson --dry-run');
    const first = await run('run FOLDER/first.ndjson');
    const dryRun = await run('run FOLDER/jobs.ndjson --dry-run --json');
    const all = await run('run FOLDER/jobs.ndjson --json');
    const none = await run('run FOLDER/jobs.ndjson');

    expect(queued.out).toContain('would cost at most 4 credits, if no call is repeated');
    expect(first.out).toContain('\ncost: 0.5 credits');
    expect(JSON.parse(dryRun.out)).toMatchObject({ cost: { unit: 'credits', amount: 3.5, possibly: 0 } });
    expect(JSON.parse(all.out)).toMatchObject({ done: 3, cost: { amount: 3.5, possibly: 0 } });
    expect(none.out).toContain('\ncost: 0 credits');
  });

  test('counts jobs with an unknown outcome as possibly paid', async () => {
    const cut: Reply = (response, { method }) =>
      method === 'POST' ? response.destroy() : json([])(response, {} as never);
    await using server = await startServer(cut);
    await write('jobs.ndjson', lines(add('a')));

    const { out } = await run('run FOLDER/jobs.ndjson', {
      PLATFORM_BASE_URL: server.url,
      PLATFORM_PRICES: PRICES,
    });

    expect(out).toContain('1 unknown');
    expect(out).toContain('\ncost: 0.5 credits, 0.5 of them possibly: for calls whose outcome is unknown');
  });

  test('is given before formulas are applied', async () => {
    const [first = '{}', second = '{}'] = [...sandbox.calculations()];
    const rows = [first, second].map((row) => `${JSON.parse(row).id},,1,SUM(1)\n`);
    await write('changes.csv', `id,name,expression,was\n${rows.join('')}`);

    const { out } = await run('formula apply FOLDER/changes.csv --name may --dry-run');

    expect(out).toContain('would cost at most 4 credits, if no call is repeated');
  });
});

describe('the cost of a month', () => {
  const month = new Date().toISOString().slice(0, 7);

  test('is in the digest and in the report, for jobs, their texts, and batches, with what was possibly paid', async () => {
    const cut: Reply = (response) => void response.destroy();
    await using server = await startServer(cut);
    await write('jobs.ndjson', lines(add('a'), add('b', 3), texts('c', 'fine', 'so so')));
    await write('lost.ndjson', lines(add('lost')));
    await write('a.csv', 'text\ngood\nbad\n');

    await run('snapshot calculations');
    await run('run FOLDER/jobs.ndjson');
    await run('run FOLDER/lost.ndjson', { PLATFORM_BASE_URL: server.url, PLATFORM_PRICES: PRICES });
    await run('score FOLDER/a.csv --text text --batch a');
    const digest = await run('digest');
    const json = await run('digest --json');
    const report = await run('report --output FOLDER/report.html --json');
    const without = await run('digest --json', {});

    // Two functions, two texts of a job and two of a batch; half a credit for the function with an unknown outcome.
    const cost = { month, unit: 'credits', amount: 7.5, possibly: 0.5, isCut: false };
    expect(digest.out).toContain(`Cost in ${month} so far: 7.5 credits, 0.5 of them possibly`);
    expect(JSON.parse(json.out)).toMatchObject({ cost });
    expect(JSON.parse(report.out)).toMatchObject({ cost });
    expect(JSON.parse(without.out)).not.toHaveProperty('cost');
  });

  test('includes neither what ended before the month nor batches with an older summary', async () => {
    await write('a.csv', 'text\ngood\nbad\n');
    await run('score FOLDER/a.csv --text text --batch a');
    const old = new Date('2020-01-31T00:00:00Z');
    await utimes(join(folder.path, 'store/scores/a/_summary.json'), old, old);

    const store = createDirectoryStore(join(folder.path, 'store'));
    const read = { store, addFault: expect.fail, signal: new AbortController().signal };
    const now = await readMonthCost({ unit: 'credits', score: 1 }, { ...read, nowMs: Date.now() });
    const then = await readMonthCost({ unit: 'credits', score: 1 }, { ...read, nowMs: old.getTime() });

    expect(now).toMatchObject({ amount: 0 });
    expect(then).toMatchObject({ month: '2020-01', amount: 2 });
  });
});

describe('wrong prices exit 2, and the message says what was expected and what came:', () => {
  const commands = [
    'score FOLDER/a.csv --text text --dry-run',
    'run FOLDER/jobs.ndjson --dry-run',
    'submit FOLDER/jobs.ndjson --dry-run',
    'formula apply FOLDER/changes.csv --name may --dry-run',
    'digest',
    'report',
  ];
  const PRICE = 'expected a price of one call: a number from 0 to 1,000,000, got';
  const ALL = 'PLATFORM_PRICES: expected an object of unit, score, run-function and update-formula, got';

  test.each([
    ['{"unit":"credits","score":"1"}', `PLATFORM_PRICES.score: ${PRICE} "1"`],
    ['{"unit":"credits","score":-1}', `PLATFORM_PRICES.score: ${PRICE} -1`],
    ['{"unit":"credits","run-function":{"a":1}}', `PLATFORM_PRICES.run-function: ${PRICE} an object`],
    ['{"unit":"credits","search":1}', ALL],
    [
      '{"score":1}',
      'PLATFORM_PRICES.unit: expected the unit of the prices: 1 to 20 visible characters, such as',
    ],
    ['{"unit":"","score":1}', 'such as credits, got ""'],
    ['7', ALL],
    ['{', ALL],
  ])('%s', async (prices, fault) => {
    await mkdir(join(folder.path, 'store'));
    await write('a.csv', 'text\ngood\n');
    await write('jobs.ndjson', lines(add('a')));
    await write('changes.csv', 'id,expression\n1,1\n');

    for (const command of commands) {
      const { code, err } = await run(command, { PLATFORM_PRICES: prices });

      expect({ command, code }).toEqual({ command, code: 2 });
      expect(err).toContain(fault);
    }
  });
});
