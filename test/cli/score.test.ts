import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { cacheKey, textHashOf } from '../../lib/jobs/texts/cache/score-cache.ts';
import { type Sandbox, startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { createDynamoTable } from '../../lib/table/dynamo-table.ts';
import { startTestAws } from '../base/aws/start-test-aws.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { sampled } from '../scale.ts';
import { beginCommand, settingsOf } from './run-command.ts';

const folder = folderOfEach();
let sandbox: Sandbox;

beforeEach(async () => {
  sandbox = await start();
});

afterEach(() => sandbox.close());

const start = (latencyMs = 0) =>
  startPlatform({ calculations: 0, datasets: 0, cards: 0, fileSets: 0, dataFiles: 0, latencyMs });

const store = () => join(folder.path, 'store');

const begin = (argv: readonly string[], more: Readonly<Record<string, string>> = {}) =>
  beginCommand(argv, { ...settingsOf(sandbox, store()), LOG_LEVEL: 'silent', ...more });
const run = (...argv: readonly string[]) => begin(argv).ended;

async function write(name: string, text: string): Promise<string> {
  const file = join(folder.path, name);
  await writeFile(file, text);
  return file;
}

const REVIEWS = `id,review,shop
1,The support team was wonderful!,A
2,The delivery was late and the box was damaged.,B
3,,C
4,The support team was wonderful!,D
`;
const TOPICS = ['--topic', 'support=the people who help', '--topic', 'delivery'];

async function scoredRows(batch: string): Promise<readonly Record<string, unknown>[]> {
  const place = join(store(), 'scores', batch);
  const parts = (await readdir(place)).filter((name) => name.startsWith('part-')).sort();
  const bodies = await Promise.all(parts.map((name) => readFile(join(place, name))));
  return bodies.flatMap((body) =>
    gunzipSync(body)
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  );
}

describe('score', () => {
  test('scores each text once, names the bad rows, describes the outcome, and exits 3', async () => {
    const file = await write('reviews.csv', REVIEWS);

    const { code, out, err } = await run(
      ...['score', file, '--text', 'review', '--id', 'id', '--columns', 'shop', '--batch', 'mine'],
      ...TOPICS,
    );

    const rows = await scoredRows('mine');
    expect(code).toBe(3);
    expect(out.split('\n')).toEqual([
      'batch mine: 4 rows: 3 scored, 0 failed, 1 bad',
      'calls: 2, 0 of them paid again after a lost response; rows from the cache: 1',
      expect.stringMatching(/^tokens: [\d,]+ in, [\d,]+ out, [\d,]+ in total/),
      'delivery: 1 negative, 2 not_applicable',
      'support: 1 not_applicable, 2 positive',
      '  line 4 (id 3): review: expected text, got an empty value',
      `parts: 1 in ${store()}/scores/mine/`,
      `summary: ${store()}/scores/mine/_summary.json`,
    ]);
    expect(err).toContain(
      `to resume it after a stop: platform-sync score ${file} --text review --id id --topic "support=`,
    );
    expect(err).toMatch(/ --columns shop --batch mine$/m);
    expect(rows).toMatchObject([
      { id: '1', columns: { shop: 'A' }, topicSentiments: { support: 'positive' } },
      { id: '2', topicSentiments: { delivery: 'negative' } },
      { id: '3', line: 4, columns: { shop: 'C' }, error: 'review: expected text, got an empty value' },
      { id: '4' },
    ]);
    expect(Object.values(sandbox.counts().sentimentCalls)).toEqual([1, 1]);
  });

  test('does not pay again for the same texts in another batch, and exits 0 without bad rows', async () => {
    const file = await write('two.ndjson', '{"text":"wonderful"}\n{"text":"awful"}\n');
    await run('score', file, '--text', 'text');

    const { code, out } = await run('score', file, '--text', 'text', '--batch', 'again', '--json');

    const summary = JSON.parse(out);
    expect(code).toBe(0);
    expect(summary).toMatchObject({ version: 1, batch: 'again', rows: 2, scored: 2, cached: 2, calls: 0 });
    expect(JSON.parse(await readFile(join(store(), 'scores/again/_summary.json'), 'utf8'))).toEqual(summary);
    expect(sandbox.counts().sentimentCalls).toEqual({ wonderful: 1, awful: 1 });
  });

  test('names a batch after its file and the time if no name is given', async () => {
    const file = await write('my reviews (2).csv', 'text\nwonderful\n');

    const { err } = await run('score', file, '--text', 'text');

    expect(err).toMatch(
      /^batch my-reviews-2-?-\d{8}T\d{6}Z; to resume it after a stop: platform-sync score "/,
    );
  });

  test('ends after the calls in flight at Ctrl-C; the printed command resumes without paying twice', async () => {
    await sandbox.close();
    sandbox = await start(150);
    const texts = Array.from({ length: 80 }, (_, index) => `wonderful ${index}`);
    const file = await write('many.csv', `text\n${texts.join('\n')}\n`);
    const many = { PLATFORM_CONCURRENCY: '20' };

    const stopping = begin(['score', file, '--text', 'text', '--batch', 'many'], many);
    await vi.waitFor(() => expect(sandbox.counts().requests).toBeGreaterThan(30), {
      interval: 5,
      timeout: 40_000,
    });
    stopping.interrupt();
    const stopped = await stopping.ended;
    const before = Object.keys(sandbox.counts().sentimentCalls).length;
    const [, resumeArgs = ''] = /^stopped; to resume: platform-sync (.*)$/m.exec(stopped.err) ?? [];
    const resumed = await begin([...resumeArgs.split(' '), '--json'], many).ended;

    const calls = Object.values(sandbox.counts().sentimentCalls);
    expect(stopped.code).toBe(130);
    expect(stopped.err).toContain('interrupted: stopped as requested');
    const [, left, scored] =
      /^calls of this run: (\d+); (\d+) of them scored a text/m.exec(stopped.err) ?? [];
    expect([left, scored]).toEqual([String(before), String(before)]);
    expect(before).toBeLessThan(80);
    expect(resumed.code).toBe(0);
    expect(JSON.parse(resumed.out)).toMatchObject({ batch: 'many', rows: 80, scored: 80, failed: 0 });
    expect(calls).toEqual(Array.from({ length: 80 }, () => 1));
  });

  test('reports with --dry-run what the batch would need, and sends nothing', async () => {
    const file = await write('reviews.csv', REVIEWS);

    const people = await run('score', file, '--text', 'review', '--dry-run');
    const machines = await run('score', file, '--text', 'review', '--dry-run', '--json');

    expect(people.code).toBe(3);
    expect(people.out.split('\n')).toEqual([
      '4 rows, 1 of them bad',
      '  line 4: review: expected text, got an empty value',
      'input: CSV in utf-8, separated by ","',
      '2 distinct texts, 0 of them cached',
      '2 calls to make, which take 1 s at 1000 a second',
      'nothing was sent',
    ]);
    expect(JSON.parse(machines.out)).toMatchObject({ dryRun: true, rows: 4, bad: 1, texts: 2, calls: 2 });
    expect(sandbox.counts().requests).toBe(0);
    await expect(readdir(store())).rejects.toThrow('ENOENT');
  });

  test('writes all rows with their scores with --output; problems of the file are shown before anything is paid', async () => {
    const file = await write('reviews.csv', `${REVIEWS}2,awful,E\n`);
    const output = join(folder.path, 'scored.csv');
    const argv = ['score', file, '--text', 'review', '--id', 'id', '--skip-empty', '--output', output];

    const { code, out, err } = await run(...argv, '--batch', 'mine');
    await rm(output);
    const again = await run(...argv, '--batch', 'mine', '--json');

    expect(code).toBe(0);
    expect(err.split('\n')).toEqual([
      `batch mine; to resume it after a stop: platform-sync score ${file} --skip-empty --text review --id id --output ${output} --batch mine`,
      'input: CSV in utf-8, separated by ","; 1 row without a text skipped; 1 row has the id of an earlier row',
      '  line 6: the id 2 is that of line 3',
      `all rows are scored; writing ${output}`,
    ]);
    expect(out).toContain(`\noutput: ${output}: 5 rows`);
    expect((await readFile(output, 'utf8')).split('\n')).toEqual([
      'id,review,shop,sentiment,model,error',
      expect.stringMatching(/^1,The support team was wonderful!,A,positive,\S+,$/),
      expect.stringMatching(/^2,The delivery .*,B,negative,/),
      '3,,C,,,',
      expect.stringMatching(/^4,.*,D,positive,/),
      expect.stringMatching(/^2,awful,E,negative,/),
      '',
    ]);
    expect(JSON.parse(again.out)).toMatchObject({
      calls: 3,
      output: { file: output, rows: 5 },
      input: { skipped: 1, repeatedIds: { rows: 1, first: [{ id: '2', lines: [3, 6] }] } },
    });
    expect(Object.values(sandbox.counts().sentimentCalls)).toEqual([1, 1, 1]);
  });

  test('lists batches with their status, and shows the failed rows of one', async () => {
    const file = await write('reviews.csv', REVIEWS);
    await mkdir(store(), { recursive: true });
    const none = await run('batches');
    await run('score', file, '--text', 'review', '--id', 'id', '--batch', 'mine');
    await mkdir(join(store(), 'scores/broken'));
    await writeFile(join(store(), 'scores/broken/_summary.json'), '[]');

    const list = await run('batches');
    const machines = await run('batches', '--json');
    const one = await run('batches', 'mine');
    const other = await run('batches', 'other');

    expect(none).toEqual({ code: 0, out: 'no batches', err: '' });
    expect({ code: list.code, out: list.out.split('\n') }).toEqual({
      code: 3,
      out: ['BATCH  STATUS  ROWS  SCORED  FAILED  BAD  LEFT', 'mine   done    4     3       0       1    -'],
    });
    expect(list.err).toContain('batch broken: scores/broken/_summary.json');
    expect(JSON.parse(machines.out)).toEqual([
      expect.objectContaining({ batch: 'mine', rowsLeft: 0, secondsLeft: 0 }),
    ]);
    expect(one.out.split('\n')).toEqual([
      'batch mine: done; 1 of 1 chunks have ended',
      '4 rows: 3 scored, 0 failed, 1 bad',
    ]);
    expect(other).toMatchObject({ code: 1, err: 'platform-sync: batch other: it does not exist' });
  });

  test('names the first 20 bad rows, and counts the rest', async () => {
    const file = await write('bad.csv', `id,text\n${'1,\n'.repeat(25)}2,wonderful\n`);

    const { out } = await run('score', file, '--text', 'text');

    expect(out.match(/^ {2}line \d+: /gm)).toHaveLength(20);
    expect(out).toContain('\n  and 5 more bad rows\n');
  });

  test.for([
    [
      REVIEWS,
      ['--max-calls', '1'],
      {},
      '4 rows have 2 distinct texts, of which 0 are cached: 2 calls, over the',
    ],
    [
      `id,review,shop\n${Array.from({ length: 900 }, (_, at) => `${at},text ${at},A\n`).join('')}`,
      [],
      { PLATFORM_RATE: '0.001' },
      '900 calls, which take 10.5 days at 0.001 a second, over the limit of 10 days',
    ],
  ] as const)('refuses too many calls with exit code 3', async ([rows, flags, more, expected]) => {
    const file = await write('reviews.csv', rows);

    const { code, err } = await begin(['score', file, '--text', 'review', ...flags], more).ended;

    expect(code).toBe(3);
    expect(err).toContain(expected);
    expect(err).toContain('nothing was sent');
    expect(sandbox.counts().requests).toBe(0);
  });

  test('says in a dry run that rows were added to the file of a batch, and pays only for these', async () => {
    const file = await write('a.csv', 'text\nwonderful\nawful\n');
    const argv = ['score', file, '--text', 'text', '--batch', 'one'];
    await run(...argv);
    await write('a.csv', 'text\nwonderful\nawful\nfine\n');

    const dry = await run(...argv, '--dry-run');
    const grown = await run(...argv, '--json');
    await write('a.csv', 'text\nwonderful\nchanged\nfine\nnew\n');
    const before = sandbox.counts().requests;
    const changed = await run(...argv, '--dry-run');
    const refused = await run(...argv);

    expect(dry.out).toContain('2 rows in the batch already, 1 added');
    expect({ ...grown, out: JSON.parse(grown.out) }).toMatchObject({
      code: 0,
      out: { rows: 3, scored: 3, calls: 3, paidAgain: 0 },
    });
    expect(changed).toMatchObject({
      code: 3,
      out: expect.stringContaining('would be refused: batch one already exists with other rows'),
    });
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('choose another name') });
    expect(sandbox.counts().requests).toBe(before);
  });

  test('exits 2 for another file under the name of an existing batch', async () => {
    await run('score', await write('a.csv', 'text\nwonderful\n'), '--text', 'text', '--batch', 'one');

    const file = await write('b.csv', 'text\nawful\n');
    const { code, err } = await run('score', file, '--text', 'text', '--batch', 'one');

    expect(code).toBe(2);
    expect(err).toContain('--batch: batch one already exists with other rows');
  });

  test('uses the table of SYNC_TABLE as its cache, and claims a text for longer than one attempt may take', async () => {
    await using aws = await startTestAws({ tables: ['shared'] });
    const more = { SYNC_TABLE: 'shared', ...aws.settings, PLATFORM_TIMEOUT_MS: '600000' };
    const file = await write('a.csv', 'text\nwonderful\n');
    const startedMs = Date.now();
    const first = await begin(['score', file, '--text', 'text'], more).ended;
    await rm(store(), { recursive: true });

    const again = await begin(['score', file, '--text', 'text', '--batch', 'b', '--json'], more).ended;

    expect([first.code, again.code]).toEqual([0, 0]);
    expect(JSON.parse(again.out)).toMatchObject({ cached: 1, calls: 0 });
    const table = createDynamoTable({ tableName: 'shared', environment: more });
    const row = await table.get(cacheKey(new URL(sandbox.url).host, { text: 'wonderful' }));
    expect(Number(row?.row['leaseEndsMs']) - startedMs).toBeGreaterThan(600_000);
  });

  test.each(sampled(1, [300_000, -300_000]))(
    'uses the table’s time even if the local clock is off by %i ms',
    async (offMs) => {
      await using aws = await startTestAws({ buckets: ['scores'], tables: ['shared'] });
      // S3, since a store in a directory compares file times with the clock that is off here.
      const more = { SYNC_TABLE: 'shared', SYNC_STORE: `s3://${aws.bucket('scores')}`, ...aws.settings };
      const file = await write('a.csv', 'text\nwonderful\n');
      const realNow = Date.now.bind(Date);
      const startedMs = realNow();
      vi.spyOn(Date, 'now').mockImplementation(() => realNow() + offMs);

      const { code } = await begin(['score', file, '--text', 'text'], more).ended;
      vi.restoreAllMocks();

      expect(code).toBe(0);
      const table = createDynamoTable({ tableName: 'shared', environment: more });
      const row = await table.get(cacheKey(new URL(sandbox.url).host, { text: 'wonderful' }));
      const leaseMs = Number(row?.row['leaseEndsMs']) - startedMs;
      // The lease is PLATFORM_TIMEOUT_MS plus 30 s, from the moment of the call.
      expect(Math.abs(leaseMs - 90_000)).toBeLessThan(60_000);
    },
  );
});

describe('forget', () => {
  const forget = (...argv: readonly string[]) =>
    begin(['forget', '--yes', ...argv], { PLATFORM_TOKEN: '' }).ended;
  const WONDERFUL = textHashOf('wonderful');

  beforeEach(async () => {
    const file = await write('a.csv', 'text\nwonderful\nawful\n');
    await run('score', file, '--text', 'text', '--batch', 'one');
  });

  test('erases a text by its hash: its results are gone, and it would be paid for again', async () => {
    const { code, out } = await forget('--text-hash', WONDERFUL.toUpperCase(), '--json');
    const again = await run('score', join(folder.path, 'a.csv'), '--text', 'text', '--dry-run', '--json');

    const [first, second] = await scoredRows('one');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ cacheRows: 1, parts: 1, rows: 1, batches: ['one'] });
    expect(first).toMatchObject({ id: '2', line: 2, erased: true, outcome: 'erased' });
    expect(first).not.toHaveProperty('textHash');
    expect(second).toMatchObject({ sentiment: 'negative' });
    expect(JSON.parse(again.out)).toMatchObject({ cached: 1, calls: 1 });
  });

  test.each([
    ['--text-hash', WONDERFUL, { cacheRows: 1, stagedChunks: 1, parts: 1, rows: 1 }],
    ['--batch', 'one', { cacheRows: 2, stagedChunks: 1, parts: 1, rows: 2 }],
  ])('counts in a dry run what it would erase, and erases nothing: %s', async (option, value, counts) => {
    const dry = await begin(['forget', option, value, '--dry-run', '--json'], { PLATFORM_TOKEN: '' }).ended;
    const { out } = await forget(option, value, '--json');

    expect(dry.code).toBe(0);
    expect(JSON.parse(dry.out)).toEqual({ dryRun: true, ...JSON.parse(out) });
    expect(JSON.parse(out)).toMatchObject({ ...counts, batches: ['one'] });
  });

  test('prints what it erased in words', async () => {
    const { out } = await begin(['forget', '--batch', 'one', '--dry-run'], { PLATFORM_TOKEN: '' }).ended;

    expect(out).toMatch(
      /^would be erased: cache rows: 2, staged chunks: 1, parts: 1, rows in them: 2; batches: one\n/,
    );
  });

  test('erases a batch with everything in it', async () => {
    const { code, out } = await forget('--batch', 'one');
    const again = await forget('--batch', 'one');

    expect(code).toBe(0);
    expect(out.split('\n')).toEqual([
      'erased: cache rows: 2, staged chunks: 1, parts: 1, rows in them: 2; batches: one',
      expect.stringMatching(/^not erased: messages on the queues/),
    ]);
    expect(again).toMatchObject({
      code: 1,
      err: 'platform-sync: batch one: there was nothing to erase',
    });
  });

  test('names the existing batch that is nearest to an unknown one', async () => {
    const { code, err } = await forget('--batch', 'onne');

    expect([code, err]).toEqual([
      1,
      'platform-sync: batch onne: there was nothing to erase; did you mean one?',
    ]);
  });
});
