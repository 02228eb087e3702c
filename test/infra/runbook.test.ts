import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { storeFailedMessage } from '../../lib/jobs/redrive.ts';
import { splitBatch } from '../../lib/jobs/texts/batch/split-batch.ts';
import { createScoreCache } from '../../lib/jobs/texts/cache/score-cache.ts';
import { settingNames } from '../../lib/settings.ts';
import { createDirectoryStore } from '../../lib/store/directory.ts';
import { lines, startJobs, throws } from '../cli/start-jobs.ts';
import { blocksOf, textOf } from '../docs/blocks.ts';
import { runLine } from '../docs/run-line.ts';
import { linesOf } from '../docs/shell.ts';
import { row, rowsOf } from '../jobs/texts/fakes.ts';

/*
 * Every command of the runbook, in the state that its section is about: ours run against the local AWS, those of AWS's own
 * command line, which it has no services for, are held against what they are called and take.
 */

const RUNBOOK = 'infra/RUNBOOK.md';

const sections = textOf(RUNBOOK)
  .split(/^(?=## )/m)
  .slice(1)
  .map((text) => {
    const name = /^## (\w+)/.exec(text)?.[1] ?? '';
    const commands = blocksOf(RUNBOOK, text).flatMap((block) => linesOf(block.text));
    return { name, text, commands };
  });

/** AWS's own commands, with the options that each takes of those that are used. */
const AWS_COMMANDS: Readonly<Record<string, readonly string[]>> = {
  'ssm put-parameter': ['--overwrite', '--type', '--name', '--value'],
  'secretsmanager put-secret-value': ['--secret-id', '--secret-string'],
  's3 ls': ['--recursive'],
  's3 rm': [],
  'sqs receive-message': ['--queue-url', '--message-attribute-names'],
  'sqs delete-message': ['--queue-url', '--receipt-handle'],
  'lambda get-account-settings': [],
  'service-quotas request-service-quota-increase': ['--service-code', '--quota-code', '--desired-value'],
};

const folder = mkdtempSync(join(tmpdir(), 'runbook-'));
let jobs: Awaited<ReturnType<typeof startJobs>>;
let run = '';

beforeAll(async () => {
  jobs = await startJobs({ isInAws: true });
  writeFileSync(join(folder, 'corrected.ndjson'), lines([throws('corrected')]));
  await jobs.run(['snapshot', 'calculations']);
  jobs.sandbox.churn(3);
  await jobs.run(['snapshot', 'calculations']);
  // A data file that is not there makes a run incomplete.
  const { out } = await jobs.run(['snapshot', 'data-files', '--id', '999999', '--json']);
  ({ run } = JSON.parse(out));
  await jobs.workOff(throws('failed'));
}, 60_000);

afterAll(async () => {
  await jobs[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

/** A job that was sent, and whose worker is gone: the next one calls it unknown. */
async function sentLongAgo(id: string): Promise<void> {
  const outcome = { status: 'unknown', error: { kind: 'answer-lost', message: '' } } as const;
  const [body = ''] = lines([throws(id)]).split('\n');
  await storeFailedMessage(createDirectoryStore(jobs.folder), { id, outcome }, { body });
  const request = { id, type: 'run-function', contentHash: 'c', sender: 's' };
  const ledger = jobs.ledgerAt(() => Date.parse('2026-11-20T09:00:00Z'));
  await ledger.claim(request, { leaseMs: 60_000 });
  await ledger.sent({ id, fence: 1 });
  await jobs.ledgerAt().claim(request, { leaseMs: 60_000 });
}

/** What brings about the state of a section, where it is not there from the beginning. */
const states: Readonly<Record<string, () => Promise<unknown>>> = {
  JobsFailed: () => jobs.workOff(throws('failed')),
  JobsUnknown: () => sentLongAgo('unknown'),
  OldestJob: () => jobs.run(['pace', '--pause']),
  JobsDeadLetters: () =>
    jobs.deadLetters.send(
      lines([throws('dead')])
        .trim()
        .split('\n'),
    ),
  SentimentCalls: () => splitReviews('calls'),
  SentimentTokens: () => splitReviews('tokens'),
};

const printed = async (...argv: readonly string[]) => JSON.parse((await jobs.run([...argv, '--json'])).out);

/** What shows that it is over, besides that every command ended well. */
const over: Readonly<Record<string, () => Promise<void>>> = {
  JobsFailed: async () => expect(await printed('jobs', 'failed')).toMatchObject({ state: 'CLAIMED' }),
  JobsUnknown: async () => expect(await printed('jobs', '--state', 'UNKNOWN')).toEqual([]),
  OldestJob: async () => expect(await printed('pace')).toMatchObject({ paused: false }),
  JobsDeadLetters: async () => expect(await jobs.countsOf(jobs.deadLetters)).toMatchObject({ waiting: 0 }),
  SnapshotRefused: async () => expect(await printed('runs', 'data-files')).toMatchObject([{ run }]),
};

/** A batch in progress. */
async function splitReviews(batch: string): Promise<void> {
  const parts = { table: jobs.table, now: Date.now, newToken: randomUUID };
  const cache = createScoreCache({ ...parts, attemptMs: 60_000, host: 'h', owner: 'o' });
  await splitBatch(
    { batch, request: {}, rows: rowsOf([row(1, 'a good day')]), host: 'h' },
    { ...parts, store: createDirectoryStore(jobs.folder), cache, rate: 2, send: async () => undefined },
  );
}

/** What the operator puts in the place of a variable. */
const given = (section: string): Readonly<Record<string, string>> => ({
  JOB: section === 'JobsUnknown' ? 'unknown' : 'failed',
  PLACE: 'data-files',
  RUN: run,
  BATCH: section === 'SentimentCalls' ? 'calls' : 'tokens',
});

describe('the section', () => {
  test.each(sections)('$name has commands that do what they should', async ({ name, commands }) => {
    await states[name]?.();

    for (const line of commands) {
      if (line.startsWith('aws ')) expect(faultsOf(line)).toEqual([]);
      else {
        const filled = line.replaceAll(/"?\$([A-Z_]+)"?/g, (_, each) => given(name)[each] ?? `$${each}`);
        await runLine(filled, { environment: jobs.settings, folder });
      }
    }
    await over[name]?.();
  });

  test.each(sections)(
    '$name says what one notices, sees and does, and when it is over',
    ({ text, commands }) => {
      expect([...text.matchAll(/^\*\*(.+?)\.\*\*/gm)].map(([, part]) => part)).toEqual([
        ...['Alarm', 'You notice', 'See', 'Fix', 'Over'],
      ]);
      expect(commands).not.toEqual([]);
    },
  );
});

/** What is wrong with a command of AWS. */
function faultsOf(line: string): readonly string[] {
  const [, command = '', rest = ''] = /^aws (\S+ \S+)(.*)$/.exec(line) ?? [];
  const options = AWS_COMMANDS[command];
  if (options === undefined) return [`nobody knows aws ${command}`];
  const known = [...settingNames, 'PARAMETER', 'QUEUE', 'RECEIPT', 'ALARM'] as readonly string[];
  return [
    ...[...rest.matchAll(/--[\w-]+/g)].map(([option]) => option).filter((each) => !options.includes(each)),
    ...[...rest.matchAll(/\$(\w+)/g)].map(([, name = '']) => name).filter((each) => !known.includes(each)),
  ];
}

test('a command of AWS that is not known, or an option, is found', () => {
  expect(faultsOf('aws s3 list')).toEqual(['nobody knows aws s3 list']);
  expect(faultsOf('aws s3 ls --recursively "$WHERE"')).toEqual(['--recursively', 'WHERE']);
});
