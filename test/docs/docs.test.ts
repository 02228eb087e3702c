import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readConfig } from '../../infra/config.ts';
import { parseMessage } from '../../lib/jobs/message/message.ts';
import { parseInboxRequest } from '../../lib/jobs/split-inbox.ts';
import { startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { settingNames } from '../../lib/settings.ts';
import { createDirectoryStore } from '../../lib/store/directory.ts';
import { settingsOf } from '../cli/run-command.ts';
import { example } from '../package/examples.ts';
import { publishLines } from '../snapshot/changes/publish-lines.ts';
import { type Block, blocks, blocksOf } from './blocks.ts';
import { checkElsewhere, REASON } from './check-elsewhere.ts';
import { runLine } from './run-line.ts';
import { linesOf } from './shell.ts';
import { typeFaults } from './type-faults.ts';

/*
 * Runs every fenced block of README and docs: commands in this process against one sandbox and an empty folder, JSON
 * through the schemas, TypeScript through the compiler. A block that cannot run here gives the reason in its fence
 * (`sh elsewhere: REASON`), and is checked as far as possible. A block that no test runs is a failure.
 */

const folder = mkdtempSync(join(tmpdir(), 'docs-'));
const running = new AsyncDisposableStack();
running.defer(() => rmSync(folder, { recursive: true }));
let environment: Readonly<Record<string, string>> = {};

beforeAll(async () => {
  const platform = running.use(
    await startPlatform({ calculations: 200, datasets: 5, cards: 20, filesPerSet: 30, dataFiles: 20 }),
  );
  environment = { ...settingsOf(platform, join(folder, 'store')), LOG_LEVEL: 'silent' };
  await publishLines(createDirectoryStore(join(folder, 'store')), {
    run: { id: '20251201T020000Z-aaaaaa', startedAt: '2025-12-01T02:00:00.000Z' },
    lines: [
      '{"id":1008,"name":"Revenue","links":[{"resource":{"type":"DATA_SOURCE","id":"cd27b9a0-a9d4-446b-9b16-02103df7f112"}}]}',
    ],
    manifest: { platform: new URL(platform.url).host, fields: { id: ['number'] } },
  });
  // The data that pages use: two runs with changes between them, as a reader has after a second run.
  for (const line of [
    'npx platform-sync snapshot calculations',
    'npx platform-sync snapshot files --fileset 5ab50524-9b3d-4a75-b88a-f20ea274b5d8',
    'npx platform-sync snapshot cards --dataset cd27b9a0-a9d4-446b-9b16-02103df7f112',
  ])
    await runLine(line, { environment, folder });
  platform.churn(20);
  await runLine('npx platform-sync snapshot calculations', { environment, folder });
}, 60_000);

afterAll(() => running.disposeAsync());

/** How blocks are run, by their kind: the language and the words after it. */
const kinds = {
  'sh elsewhere': ({ text, words }) => checkElsewhere(text, words),
  sh: (block) => runShell(block),
  // Commands run in the state that their section describes.
  'sh runbook': ({ page }) =>
    expect([page, existsSync('test/infra/game-day/game-day.process.test.ts')]).toEqual([
      'infra/RUNBOOK.md',
      true,
    ]),
  'ndjson FILE': (block) => {
    writeFileSync(join(folder, block.words), block.text);
    checkJobs(block);
  },
  'json FILE': ({ text, words }) => writeFileSync(join(folder, words), text),
  'csv FILE': ({ text, words }) => writeFileSync(join(folder, words), text),
  'sql FILE': ({ text, words }) => {
    mkdirSync(join(folder, 'rules'), { recursive: true });
    writeFileSync(join(folder, 'rules', words), text);
  },
  'env FILE': ({ text }) => {
    const names = Object.keys(parseEnv(text));
    expect(names.filter((name) => !settingNames.some((each) => each === name))).toEqual([]);
  },
  'json instances': ({ text }) => void readConfig(JSON.parse(text)),
  'json event rule': ({ text }) =>
    void readConfig({
      instances: [{ name: 'a', baseUrl: 'https://a.example.com', eventRules: [JSON.parse(text)] }],
    }),
  'json jobs': (block) => checkJobs(block),
  'json inbox': ({ text }) => checkInbox(text),
  sql: async ({ text }) => {
    for (const statement of linesOf(text.replaceAll(/ *--.*$/gm, '')))
      await runLine(`npx platform-sync query "${statement.replace(/;$/, '')}"`, { environment, folder });
  },
  // Plain text is not run.
  text: () => undefined,
  // In a sequence diagram a semicolon ends a statement, so the text after it would be a syntax error.
  mermaid: ({ text }) => expect(text.startsWith('sequenceDiagram') ? text : '').not.toContain(';'),
  'ts elsewhere': ({ words }) => expect(words).toMatch(REASON),
  // All TypeScript blocks are compiled together, below.
  ts: () => undefined,
  python: () => expect(existsSync('test/tables/readers.conformance.ts')).toBe(true),
} as const satisfies Readonly<Record<string, (block: Block) => unknown>>;

function kindOf({ language, words }: Block): keyof typeof kinds | undefined {
  const isFile = /^[\w-]+(\.[\w-]+)*\.\w+$/.test(words) && language !== 'sh';
  const kind = [language, isFile ? 'FILE' : words.replace(/:.*$/, '')].join(' ').trim();
  return kind in kinds ? (kind as keyof typeof kinds) : undefined;
}

async function runShell({ text }: Block): Promise<void> {
  for (const line of linesOf(text)) await runLine(line, { environment, folder });
}

function checkJobs({ text }: Block): void {
  for (const line of linesOf(text))
    expect(parseMessage(line, { messageId: 'm-1', allow: {} })).toMatchObject({ kind: 'job' });
}

function checkInbox(text: string): void {
  expect(parseInboxRequest('inbox/reviews.json', Buffer.from(text))).toMatchObject({ batch: 'reviews' });
}

test.each(blocks.filter(({ test }) => test === undefined))('the code block at $at works', async (block) => {
  const kind = kindOf(block);
  if (kind === undefined) expect.fail(`nobody runs a block of ${block.language} ${block.words}`);

  await kinds[kind](block);
});

test('the TypeScript of all pages compiles against the entry points', () => {
  // aws-cdk-lib takes seconds to compile, so blocks that import it are checked where the package is installed.
  const checked = ({ language, words, text }: Block) =>
    language === 'ts' && words === '' && !text.includes('aws-cdk-lib');

  expect(typeFaults(blocks.filter(checked))).toEqual([]);
});

test('a block that names a test is an example in that test', () => {
  for (const { test, text } of blocks) if (test !== undefined) expect(example(test)).toBe(text);
});

test('the check of blocks finds a block that nothing runs', () => {
  const source = ['```', 'platform-sync runs', '```', '```sh deploy', 'ls', '```', ''].join('\n');

  expect(blocksOf('a.md', source).map(kindOf)).toEqual([undefined, undefined]);
});

test('the check of blocks finds a line that fails', async () => {
  await expect(runLine('npx platform-sync runs --none', { environment, folder })).rejects.toThrow(
    'expected exit code 0, got 2',
  );
});
