import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { SendContext } from '../../../../lib/jobs/send-context.ts';
import type { SnapshotJob } from '../../../../lib/jobs/types/snapshot/message.ts';
import {
  openSnapshots,
  parseExecutionInput,
  readFollowers,
  startSnapshotRunner,
} from '../../../../lib/jobs/types/snapshot/open-snapshots.ts';
import { openSession } from '../../../../lib/session.ts';
import { lambdaExecutions } from '../../../../lib/snapshot/durable/start-execution.ts';
import { createDirectoryStore } from '../../../../lib/store/directory.ts';
import { type LocalLambda, startLambda } from '../../../local-aws/services/start-lambda.ts';

let lambda: LocalLambda;

beforeEach(async () => {
  lambda = await startLambda(['snapshot']);
});

afterEach(() => lambda.close());

const calculations: SnapshotJob = {
  version: 1,
  type: 'snapshot',
  id: 'nightly-2026-11-21',
  source: 'calculations',
};
const cards = '[{"version":1,"type":"snapshot","id":"cards","source":"cards","accept":["shrunk"]}]';
/** `printf 'acme/nightly-2026-11-21' | sha256sum | cut -c 1-40` */
const NAME = 'calculations-89e1c1c573eef9ae9449bb0f1f7b5712c3771785';
const ARN = 'arn:aws:lambda:us-east-1:000000000000:function:snapshot:live';

const aws = () => ({
  AWS_ENDPOINT_URL_LAMBDA: lambda.endpoint,
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'sandbox',
  AWS_SECRET_ACCESS_KEY: 'sandbox',
});

type Given = { readonly functionName?: string; readonly followers?: string };

const runnerOf = ({ functionName = ARN, followers }: Given = {}) =>
  startSnapshotRunner({
    start: lambdaExecutions({ functionName, environment: aws() }),
    stack: 'acme',
    followers: readFollowers(followers),
  });

function turn() {
  const sent: string[] = [];
  const beforeSend = async () => void sent.push('sent');
  const { signal } = new AbortController();
  return { sent, signal, beforeSend, onSend: () => undefined } satisfies SendContext & { sent: string[] };
}

test('a snapshot job starts a durable execution with a name derived from its id, and ends as done without waiting for it', async () => {
  const outcome = await runnerOf()(calculations, turn());

  expect(outcome).toEqual({ status: 'done', response: `{"started":"${NAME}"}` });
  expect(lambda.requests).toEqual([
    { function: ARN, invocationType: 'Event', name: NAME, input: calculations },
  ]);
});

test('a function may be given by its name and alias', async () => {
  await runnerOf({ functionName: 'snapshot:live' })(calculations, turn());

  expect(lambda.requests).toMatchObject([{ function: 'snapshot:live', name: NAME }]);
});

test('a job that is started twice has one execution, even if the snapshots that follow it have changed meanwhile', async () => {
  await runnerOf()(calculations, turn());
  await runnerOf()(calculations, turn());
  const again = await runnerOf({ followers: cards })(calculations, turn());

  expect(again.status).toBe('done');
  expect(lambda.requests).toHaveLength(3);
  expect([...lambda.executions.keys()]).toEqual([NAME]);
});

test('a worker starts executions if its settings say so', async () => {
  const session = openSession({
    environment: {
      ...aws(),
      PLATFORM_BASE_URL: 'https://acme.example.com',
      PLATFORM_TOKEN: 'token',
      SYNC_SNAPSHOT_FUNCTION: ARN,
      SYNC_STACK: 'acme',
      SYNC_FOLLOWERS: cards,
    },
    err: () => undefined,
  });
  const runner = await openSnapshots(session, { store: createDirectoryStore('.'), host: 'acme.example.com' });

  await runner(calculations, turn());

  expect(lambda.requests).toMatchObject([
    { function: ARN, name: NAME, input: { id: calculations.id, followers: [{ source: 'cards' }] } },
  ]);
});

test('a refused start is recorded as sent, and fails', async () => {
  const { sent, ...rest } = turn();

  const refused = runnerOf({ functionName: 'no-such-function:live' })(calculations, rest);

  await expect(refused).rejects.toThrow('Function not found');
  expect(sent).toEqual(['sent']);
});

describe('the name of an execution', () => {
  async function nameOf(job: object, stack: string): Promise<string> {
    const names: string[] = [];
    const start = async ({ name }: { readonly name: string }) => void names.push(name);
    await startSnapshotRunner({ start, stack, followers: [] })({ ...calculations, ...job }, turn());
    return names.join();
  }

  test.each(['calculations', 'files', 'cards', 'data-files'] as const)(
    'has a valid length for %s',
    async (source) => {
      expect(await nameOf({ source, id: 'a'.repeat(128) }, 'b'.repeat(128))).toMatch(
        new RegExp(`^${source}-[0-9a-f]{40}$`),
      );
    },
  );

  test('distinguishes stacks and jobs', async () => {
    const names = [
      await nameOf({ source: 'files', id: 'a' }, 'one'),
      await nameOf({ source: 'files', id: 'b' }, 'one'),
      await nameOf({ source: 'files', id: 'a' }, 'two'),
    ];

    expect(new Set(names).size).toBe(3);
  });
});

describe('the snapshots that follow (followers)', () => {
  test('are passed to the execution of a job of all calculations', async () => {
    await runnerOf({ followers: cards })(calculations, turn());

    const parsed = parseExecutionInput(lambda.requests[0]?.input);
    expect(parsed).toEqual({
      request: calculations,
      followers: [
        { version: 1, type: 'snapshot', id: 'cards', source: 'cards', drill: true, accept: ['shrunk'] },
      ],
    });
  });

  test('are not passed to any other job', async () => {
    const runner = runnerOf({ followers: cards });

    await runner({ ...calculations, id: 'narrowed', name: 'sales', as: 'sales' }, turn());
    await runner({ ...calculations, id: 'cards', source: 'cards', drill: true }, turn());

    expect(lambda.requests.map(({ input }) => Object.keys(input as object))).toEqual([
      expect.not.arrayContaining(['followers']),
      expect.not.arrayContaining(['followers']),
    ]);
  });

  test.each([
    ['{', 'SYNC_FOLLOWERS: expected JSON, got 1 characters'],
    ['{}', 'SYNC_FOLLOWERS: expected a list of snapshot jobs'],
    ['[{"version":1,"type":"snapshot","source":"gadgets"}]', 'SYNC_FOLLOWERS[0]: source: expected one of'],
    [
      '[{"version":1,"type":"snapshot","source":"cards","datasets":["11111111-1111-4111-8111-111111111111"]}]',
      'SYNC_FOLLOWERS: [0]: expected a snapshot of cards in which the field datasets is not set, got one with datasets',
    ],
    [
      '[{"version":1,"type":"snapshot","source":"calculations"}]',
      'SYNC_FOLLOWERS: [0]: expected a snapshot of cards in which the field datasets is not set, got one of calculations',
    ],
  ])('must not be %s', (text, fault) => {
    expect(() => readFollowers(text)).toThrow(fault);
  });
});

test.each([
  [null, 'input: expected an object'],
  [{ followers: {} }, 'followers: expected a list of snapshot jobs'],
  [{ followers: ['cards'] }, 'followers[0]: expected an object'],
])('an execution whose input has %j is refused', (given, message) => {
  const job = { version: 1, type: 'snapshot', id: 'nightly-1', source: 'calculations' };

  expect(() => parseExecutionInput(given && { ...job, ...given })).toThrow(message);
});
