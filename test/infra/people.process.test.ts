import { mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CommandPath } from '../../lib/cli/command.ts';
import { families, runCommandLine } from '../../lib/cli/command-line.ts';
import { createSqsClient, createSqsQueue } from '../../lib/jobs/queue/sqs-queue.ts';
import { codePackages } from '../../lib/sandbox/platform/functions/packages.ts';
import { type Sandbox, startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { openStore } from '../../lib/store/open.ts';
import type { Store } from '../../lib/store/store.ts';
import { createFakeTerminal } from '../cli/fake-terminal.ts';
import { textOf } from '../docs/blocks.ts';
import { type LocalStack, startStack } from '../local-aws/stack/start-stack.ts';
import type { Template } from '../local-aws/stack/template.ts';
import { minimal, templateOf } from './instances.ts';

/*
 * Runs every command on the pages about a stack as people with a token and the managed policies, and no other
 * permission in the account. The earlier snapshots, scores and runs were made by the account's owner.
 */

const PAGES = ['operations', 'restore', 'deploy', 'recipes', 'athena', 'scoring'].map(
  (name) => `docs/${name}.md`,
);

const READER = ['PoliciesReader'];
const SUBMITTER = ['PoliciesSubmitter'];
const EDITOR = [...READER, ...SUBMITTER];
const OPERATOR = ['PoliciesOperator'];
const ON_CALL = [...READER, ...OPERATOR];

/** The command lines for which no policy exists: they need the permissions of functions, or none at all. */
const OTHERS: Readonly<Partial<Record<CommandPath, string>>> = {
  work: 'takes messages from the queue, as the functions do',
  snapshot: 'a name for those of sources',
  formula: 'a name for those of formulas',
  init: 'writes a file here',
  sandbox: 'reaches no account',
};

const running = new AsyncDisposableStack();
let stack: LocalStack;
let platform: Sandbox;
let store: Store;
let folder: string;
/** The names that replace the placeholders in the lines below. */
const names: Record<string, string> = {};
const tried = new Set<string>();

/** The exit code and output of a command for people with these policies, and the requests that were refused. */
async function run(policies: readonly string[], line: string, input = '', queue = 'QueueUrl') {
  const before = stack.access.refusals().length;
  const settings = {
    ...(policies.length === 0 ? stack.settings : stack.settingsOf(...policies)),
    PLATFORM_BASE_URL: platform.url,
    PLATFORM_TOKEN: platform.token,
    PLATFORM_RATE: '1000',
    SYNC_STORE: stack.output('Store'),
    SYNC_TABLE: stack.output('TableName'),
    SYNC_QUEUE_URL: stack.output(queue),
    SYNC_DEAD_LETTER_URL: stack.output('DeadLetterUrl'),
    SYNC_EVENT_BUS: 'default',
    SYNC_GLUE_DATABASE: stack.output('GlueDatabase'),
    LOG_LEVEL: 'silent',
  };
  const { terminal, out, err } = createFakeTerminal(settings, input);
  const words = [...line.matchAll(/'([^']*)'|(\S+)/g)]
    .map(([, quoted, word = '']) => quoted ?? word)
    .map((word) => word.replaceAll(/\$([A-Z]+)/g, (_, name) => names[name] ?? ''))
    .map((word) => (/^[\w-]+\.(csv|html|json)$/.test(word) ? join(folder, word) : word));
  const code = await runCommandLine(words, terminal);
  const refused = stack.access.refusals().slice(before);
  tried.add(commandIn(line));
  return { code, out: out(), err: err(), refused };
}

const paths = Object.values(families)
  .flatMap((family) => Object.keys(family))
  .sort((a, b) => b.length - a.length);
const commandIn = (line: string) => paths.find((path) => `${line} `.startsWith(`${path} `)) ?? '';

async function asOwner(line: string): Promise<string> {
  const { code, out, err } = await run([], line);
  if (code !== 0) throw new Error(`${line}: ${err}`);
  return out;
}

beforeAll(async () => {
  const template = templateOf({ ...minimal, name: 'people', functionsQueue: true }).toJSON() as Template;
  stack = running.use(await startStack({ template, assets: new Map(), secret: 'none' }));
  platform = running.use(
    await startPlatform({
      ...{ calculations: 40, datasets: 4, cards: 6 },
      ...{ fileSets: 1, filesPerSet: 4, dataFiles: 3 },
    }),
  );
  store = await openStore(stack.output('Store'), { s3: stack.settings });
  folder = running.use(await mkdtempDisposable(join(tmpdir(), 'people-'))).path;
  const [calculation = '', other = ''] = [...platform.calculations()].map(
    (each) => /"id":(\d+)/.exec(each)?.[1] ?? '',
  );
  const { fileSets, dataFiles } = platform.ids();
  Object.assign(names, {
    ...{ CALCULATION: calculation, FILESET: fileSets[0], FILE: dataFiles[0] },
    PACKAGE: codePackages[0]?.id ?? '',
  });
  await writeFile(join(folder, 'texts.csv'), 'id,text\na,The price is fine.\n');
  await writeFile(join(folder, 'before.csv'), `id,expression,was\n${calculation},MAX(1),SUM(1)\n`);
  await writeFile(join(folder, 'changes.csv'), `id,expression,was\n${calculation},SUM(1),MAX(1)\n`);
  names['RULES'] = join(folder, 'rules');
  await mkdir(names['RULES']);
  await writeFile(join(names['RULES'], 'owned.sql'), '-- severity: warn\nFROM calculations');
  await writeFile(join(folder, 'ids.csv'), 'id\none\n');
  await writeFile(join(folder, 'imported.csv'), `id,expression\n${other},SUM(\`Sales\`)\n`);
  names['FORMULAS'] = join(folder, 'formulas');
  names['RUNS'] = join(folder, 'runs.ndjson');
  await writeFile(
    names['RUNS'],
    `{"version":1,"type":"run-function","id":"yields","packageId":"${names['PACKAGE']}","packageVersion":"1.1.0","functionName":"listFormulas","importFormulas":true}\n`,
  );
  await writeFile(
    join(folder, 'job.json'),
    '{"version":1,"type":"snapshot","source":"calculations","id":"{{id}}"}',
  );
  await asOwner('snapshot calculations');
  platform.churn(3);
  for (const source of ['calculations', 'cards', 'files --fileset $FILESET', 'data-files --id $FILE'])
    await asOwner(`snapshot ${source}`);
  await asOwner('snapshot data-files --id $FILE --as few');
  await asOwner('score texts.csv --text text --id id --batch may');
  await asOwner('formula apply before.csv --name may');
  await store.put('refused/one.json', Buffer.from('{}'));
  await store.put('report/latest.html', Buffer.from('<p>'));
  await store.put('report/latest.json', Buffer.from('{"version":1,"writtenAt":0,"runs":{}}'));
  tried.clear();
}, 120_000);
afterAll(() => running.disposeAsync());

/**
 * Denied requests that do not affect the output: readers cannot store the model for the next one, and `submit` cannot
 * read rows that have ended.
 */
const KEPT = /^\w+(\+\w+)* may not (s3:PutObject on arn:aws:s3:::\w+\/model\/|dynamodb:(Batch)?GetItem on )/;

/** Command lines that must succeed, with the policies of the people who run them. */
const LINES: readonly (readonly [who: readonly string[], line: string, input?: string])[] = [
  [READER, 'env --stack platform-sync-people'],
  [READER, 'runs'],
  [READER, 'runs --all'],
  [READER, 'runs data-files.few'],
  [READER, 'diff'],
  [READER, 'diff calculations'],
  [READER, 'report --output report.html'],
  [READER, 'report --link'],
  [READER, 'where-used $CALCULATION'],
  [READER, 'query --saved what-changed-this-week'],
  [READER, 'query --saved broken-references'],
  ...['calculations', 'all_files', 'changes', 'jobs', 'scores', 'formulas', 'refused'].map(
    (table) => [READER, `query 'SELECT count(*) FROM ${table}'`] as const,
  ),
  [READER, 'check $RULES'],
  [READER, 'check $RULES'],
  [READER, 'lineage --output lineage.json'],
  [READER, 'formula export $FORMULAS'],
  [READER, 'digest'],
  [READER, 'jobs results --output jobs.csv'],
  [READER, 'formula log $CALCULATION'],
  [READER, 'formula check -', 'MAX(1)'],
  [READER, 'formula apply changes.csv --name june --dry-run --markdown'],
  [SUBMITTER, 'submit -', '{"version":1,"type":"snapshot","source":"calculations","id":"one"}'],
  [SUBMITTER, 'submit --from-csv ids.csv --template job.json --dry-run'],
  [SUBMITTER, 'submit --from-csv ids.csv --template job.json'],
  [EDITOR, 'formula apply changes.csv --name july --submit'],
  [ON_CALL, 'doctor'],
  [OPERATOR, 'pace'],
  [OPERATOR, 'pace --pause'],
  [OPERATOR, 'pace --rate 1'],
  [OPERATOR, 'pace --reset'],
  [OPERATOR, 'pace --resume --new-ledger'],
  [OPERATOR, 'pace --resume'],
  [OPERATOR, 'pace --rate 1000'],
  [OPERATOR, 'jobs'],
  [OPERATOR, 'jobs --status failed'],
  [OPERATOR, 'jobs may.$CALCULATION'],
  [OPERATOR, 'jobs cancel two'],
  [OPERATOR, 'jobs cancel --batch may'],
  [OPERATOR, 'redrive'],
  [ON_CALL, 'batches'],
  [ON_CALL, 'batches may'],
  [ON_CALL, 'call $PACKAGE 1.0.0 addNumbers --input \'{"first":1,"second":2}\''],
  [ON_CALL, 'run $RUNS'],
  [ON_CALL, 'formula import imported.csv'],
  [READER, 'formula rename-column Sales Revenue --output renamed.csv'],
  [ON_CALL, 'snapshot calculations'],
  [ON_CALL, 'snapshot files --fileset $FILESET'],
  [ON_CALL, 'snapshot data-files --id $FILE'],
  [ON_CALL, 'snapshot cards'],
  [ON_CALL, 'snapshot all'],
  [ON_CALL, 'score texts.csv --text text --id id --batch june'],
  [ON_CALL, 'formula undo may'],
  [ON_CALL, 'formula apply before.csv --name august'],
  [ON_CALL, 'tables'],
  [ON_CALL, 'prune --keep 1 --dry-run'],
  [ON_CALL, 'prune --keep 1 --yes'],
  [OPERATOR, 'forget --yes --batch may'],
  [OPERATOR, `forget --yes --text-hash ${'0'.repeat(64)}`],
];

describe('people may do everything that their commands need:', () => {
  test.each(LINES.map(([who, line, input = '']) => ({ who: who.join(' and '), line, input, policies: who })))(
    '$who: $line',
    async ({ policies, line, input }) => {
      const { code, err, refused } = await run(policies, line, input);

      expect({ code, err, refused: refused.filter((each) => !KEPT.test(each)) }).toMatchObject({
        code: 0,
        refused: [],
      });
    },
  );

  test.each([
    ['redrive two', OPERATOR],
    ['jobs resolve two failed --note seen', OPERATOR],
  ])('%s, for a job that does not exist', async (line, policies) => {
    expect(await run(policies, line)).toMatchObject({ code: 3, refused: [] });
  });

  test('the same commands for the queue of code functions as for the queue of all jobs', async () => {
    const job = '{"version":1,"type":"snapshot","source":"calculations","id":"other"}';

    expect(await run(SUBMITTER, 'submit -', job, 'FunctionsQueueUrl')).toMatchObject({
      code: 0,
      refused: [],
    });
    expect(await run(OPERATOR, 'jobs', '', 'FunctionsQueueUrl')).toMatchObject({ code: 0, refused: [] });
  });

  test.each(['QueueUrl', 'FunctionsQueueUrl'])('dead letters are moved back to %s', async (queue) => {
    const url = stack.output('DeadLetterUrl');
    const client = createSqsClient(url, stack.settings);
    await createSqsQueue(url, client).send(['{"version":1,"type":"snapshot","source":"cards","id":"dead"}']);
    client.destroy();

    const moved = await run(OPERATOR, 'redrive', '', queue);

    expect(moved).toMatchObject({ code: 0, refused: [] });
    expect(moved.out).toMatch(/dead letters moved back: [1-9]/);
  });

  test('texts and the request to score them are put into the inbox', async () => {
    const inbox = await openStore(stack.output('Store'), { s3: stack.settingsOf(...SUBMITTER) });

    for (const key of ['inbox/july.csv', 'inbox/july.json']) await inbox.put(key, Buffer.from('x'));
    await expect(inbox.put('texts/july.csv', Buffer.from('x'))).rejects.toThrow('denied');
  });

  test('a refused run is published, and then the previous one again', async () => {
    const take = async (calculations: number) => {
      await using other = await startPlatform({ calculations, filesPerSet: 1 });
      const { terminal, out } = createFakeTerminal({
        ...{ ...stack.settings, PLATFORM_BASE_URL: other.url, PLATFORM_TOKEN: other.token },
        ...{ SYNC_STORE: stack.output('Store'), SYNC_TABLE: stack.output('TableName') },
        ...{ PLATFORM_RATE: '1000', LOG_LEVEL: 'silent' },
      });
      const code = await runCommandLine(['snapshot', 'calculations', '--json'], terminal);
      return { code, run: String(JSON.parse(out()).run) };
    };
    const latest = async () => JSON.parse(String((await store.get('calculations/latest.json'))?.body));
    const whole = await take(40);
    const { manifest } = await latest();
    const shrunk = await take(4);
    expect([whole.code, shrunk.code]).toEqual([0, 3]);

    const published = await run(ON_CALL, `publish calculations ${shrunk.run} --force`);
    expect(published).toMatchObject({ code: 0, refused: [] });
    expect(await latest()).toMatchObject({ run: shrunk.run });
    // The run was replaced, so it has a tag.
    await store.put(`${manifest.slice(0, manifest.lastIndexOf('/'))}/_tagged.json`, Buffer.from('{}'));
    const back = await run(ON_CALL, `publish calculations ${whole.run} --force`);
    expect(back).toMatchObject({ code: 0, refused: [] });
    expect(await run(READER, `publish calculations ${shrunk.run} --force`)).toMatchObject({
      code: 1,
      refused: [expect.stringMatching(/^PoliciesReader\w+ may not s3:GetObject on .*\/work\/calculations\//)],
    });
  });

  test('so every command in the docs was tried', () => {
    const given = PAGES.flatMap((page) =>
      [...textOf(page).matchAll(/platform-sync ([a-z][\w -]*)/g)].map(([, line = '']) => commandIn(line)),
    ).filter((path) => path !== '' && !(path in OTHERS));

    expect(given.length).toBeGreaterThan(15);
    expect([...new Set(given)].filter((path) => !tried.has(path))).toEqual([]);
  });
});

describe('people may not use other commands:', () => {
  test.each([
    [SUBMITTER, 'jobs', 'dynamodb:Scan'],
    [SUBMITTER, 'runs', 's3:'],
    [READER, 'pace --pause', 'dynamodb:'],
    [READER, 'prune --keep 1 --yes', 's3:'],
    [READER, 'batches', 'dynamodb:'],
    [EDITOR, 'formula undo july', 'dynamodb:'],
    [ON_CALL, 'work --drain', 'sqs:ReceiveMessage'],
  ])('%s: %s', async (who, line, action) => {
    const { code, refused } = await run(who, line);

    expect(code).not.toBe(0);
    expect(refused).toContainEqual(expect.stringContaining(` may not ${action}`));
  });
});
