import { describe, expect, test } from 'vitest';
import { writeResult } from '../../../../lib/jobs/result.ts';
import type { SendContext } from '../../../../lib/jobs/send-context.ts';
import { runFunction } from '../../../../lib/jobs/types/run-function/definition.ts';
import type { Call, PlatformEvent } from '../../../../lib/platform/index.ts';
import { clientAt } from '../../../platform/client-at.ts';
import { bytes, startServer } from '../../../platform/scripted-server.ts';
import { fakeWorker } from '../../fake-worker.ts';
import { runnerOf } from '../../runner-of.ts';

const job = {
  version: 1,
  type: 'run-function',
  id: 'job-1',
  packageId: '6f1d2c84-3b7e-4a59-9c0d-8e25b1a7f403',
  packageVersion: '1.0.0',
  functionName: 'list',
  onUnknown: 'fail',
} as const;
const turn: SendContext = { signal: new AbortController().signal, beforeSend: async () => {}, onSend() {} };

const execution = {
  executionId: 'e1',
  status: 'SUCCESS',
  result: Array.from({ length: 100_000 }, (_, id) => ({ id, name: `é ${id}` })),
  stderr: { log: ['too much'] },
};

/** The outcome of a response with this body. */
const ended = (body: string | Buffer) => {
  const read = async (_: unknown, __: unknown, make: (body: Buffer) => unknown) => make(Buffer.from(body));
  return runnerOf(runFunction, { call: { read } as unknown as Call })(job, turn);
};

test.each<[status: string, outcome: string, error: object | undefined]>([
  ['SUCCESS', 'done', undefined],
  [
    'running',
    'unknown',
    { kind: 'running', message: 'execution e1 was still running when the platform responded' },
  ],
  ['FAILED', 'failed', { kind: 'execution', message: 'execution e1 ended with FAILED: too much' }],
  [' success', 'done', undefined],
  ['Output_Undefined', 'done', undefined],
  [
    'result_type_failure ',
    'failed',
    { kind: 'execution', message: 'execution e1 ended with result_type_failure: too much' },
  ],
  [
    '',
    'unknown',
    { kind: 'shape', message: 'execution e1 has no status, so it is unknown how it ended: too much' },
  ],
])('an execution with the status %s has the outcome %s', async (status, outcome, error) => {
  const body = JSON.stringify({ ...execution, result: 1, status });

  expect(await ended(body)).toEqual({ status: outcome, response: body, ...(error && { error }) });
});

test.each(['UNDEFINED', 'QUEUED', 'PENDING', 'TIMED_OUT', 'COMPLETED', 'SUCCESSFUL', 'PAUSED'])(
  'an execution with the status %s, which says nothing about its end, is unknown',
  async (status) => {
    const body = JSON.stringify({ ...execution, result: 1, status });
    const message = `execution e1 has the status ${status}, so it is unknown how it ended: too much`;

    const error = { kind: 'undetermined', message };
    expect(await ended(body)).toEqual({ status: 'unknown', response: body, error });
  },
);

/** Values that the platform may send in place of a member. */
const ODD = [undefined, null, 5, 'x', true, [], ['x'], {}, { log: 5, errorMessages: 'x' }];

test.each(
  ['executionId', 'startedBy', 'stdout', 'stderr', 'errorInformation', 'settings'].flatMap((name) =>
    ODD.map((odd) => [name, odd] as const),
  ),
)('even if its %s is %j, an execution ends as its status says, and is in the result', async (name, odd) => {
  for (const [status, outcome] of [
    ['SUCCESS', 'done'],
    ['FAILED', 'failed'],
  ]) {
    const body = JSON.stringify({ ...execution, result: 1, status, [name]: odd });

    expect(await ended(body)).toMatchObject({ status: outcome, response: body });
  }
});

test('an execution that is nested deeper than JSON is read ends as its status says, and is a string in the result', async () => {
  const deep = `{"executionId":"e1","status":"SUCCESS","result":${'['.repeat(5_000)}${']'.repeat(5_000)}}`;
  const long = deep.replace('"e1"', `"e1","more":"${'x'.repeat(1_000_001)}"`);

  expect(await ended(deep)).toEqual({ status: 'done', response: JSON.stringify(deep) });
  expect(await ended(long)).toEqual({ status: 'done', response: JSON.stringify(long) });
});

describe('a response of more than a megabyte', () => {
  test('stays in bytes, and is in the result on one line', async () => {
    const fake = fakeWorker({});
    const { store } = fake;
    const body = JSON.stringify(execution, null, 1).replaceAll('\n', '\r\n');

    const outcome = await ended(`${body}\r\n`);
    await store.put('staged', outcome.response as Buffer);
    const row = { id: 'job-1', type: 'run-function', state: 'DONE', fence: 1, attempts: 1 } as const;
    const times = { takeovers: 0, dt: '2026-11-21', createdAt: 0, finishedAt: 0 };
    const key = await writeResult(store, { ...row, ...times, outcome: { status: 'done', staged: 'staged' } });

    expect(outcome.status).toBe('done');
    expect(String((await store.get(key))?.body).trimEnd()).not.toMatch(/[\r\n]/);
    expect(await fake.stored(key)).toMatchObject({ status: 'done', response: execution });
  });

  test('has the reason if the function failed', async () => {
    const { status, error } = await ended(JSON.stringify({ ...execution, status: 'FAILED' }));

    expect({ status, message: error?.message }).toEqual({
      status: 'failed',
      message: 'execution e1 ended with FAILED: too much',
    });
  });

  test.each([
    ['without a status', JSON.stringify({ ...execution, status: undefined })],
    ['that is a list', JSON.stringify([execution])],
  ])('%s is unknown', async (_, body) => {
    expect(await ended(body)).toMatchObject({ status: 'unknown', error: { kind: 'shape' } });
  });

  test.each([
    ['is cut', Buffer.from(JSON.stringify(execution).slice(0, -10))],
    ['is not UTF-8', Buffer.from(JSON.stringify(execution), 'latin1')],
  ])('that %s causes a syntax error', async (_, body) => {
    await expect(ended(body)).rejects.toThrow(SyntaxError);
  });
});

test('a response that had to be repaired counts as odd, together with its odd members', async () => {
  const body = '{"executionId":"e1","status":"SUCCESS","stdout":5,"result":NaN}';
  await using server = await startServer(bytes(body));
  const events: PlatformEvent[] = [];
  const { call } = clientAt(server.url, { observe: (event) => events.push(event) });

  const { response } = await runnerOf(runFunction, { call })(job, turn);

  expect(response).toBe('{"executionId":"e1","status":"SUCCESS","stdout":5,"result":null}');
  expect(events.filter(({ kind }) => kind === 'odd')).toMatchObject([
    { members: expect.arrayContaining(['the response: invalid JSON', 'stdout: number']) },
  ]);
});
