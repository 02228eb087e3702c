import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundleOf } from '../../infra/bundles.ts';
import { enginesOf } from '../base/aws/engines.ts';
import { startTestAws, type TestAws } from '../base/aws/start-test-aws.ts';
import { json, startServer } from '../platform/scripted-server.ts';

let folder: string;
let aws: TestAws;

beforeAll(async () => {
  aws = await startTestAws({ buckets: ['sync'], tables: ['sync'] });
  folder = await mkdtemp(join(tmpdir(), 'log-format-'));
  await mkdir(join(folder, 'task'));
  for (const [name, bytes] of Object.entries(bundleOf('run-jobs')))
    await writeFile(join(folder, 'task', name), bytes);
});

afterAll(async () => {
  await aws.close();
  await rm(folder, { recursive: true });
});

/** A message that is not a job: it is rejected, which logs a warning and a problem. */
const refusable = {
  Records: [
    {
      messageId: 'm-1',
      body: 'not a job',
      receiptHandle: 'r',
      attributes: { SenderId: 's', SentTimestamp: '0', ApproximateReceiveCount: '1' },
    },
  ],
};

/** The output of a deployed function: on standard output, and on the runtime's channel for console methods. */
type Written = { readonly output: readonly string[]; readonly channel: string; readonly ended: string };

type Place = { readonly format: 'Text' | 'JSON'; readonly hasChannel: boolean };

/** Handles one event in Lambda's runtime client, as Lambda starts it with this log format. */
async function invoked(event: unknown, { format, hasChannel }: Place): Promise<Written> {
  const { runtimeClient } = enginesOf(process.env);
  if (runtimeClient === undefined) throw new Error('expected the engine runtimeClient');
  await using api = await startRuntimeApi(event);
  const [command, ...options] = [...runtimeClient.command];
  const child = spawn(command ?? '', options, {
    stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
    env: {
      AWS_LAMBDA_RUNTIME_API: api.host,
      AWS_LAMBDA_NODEJS_USE_ALTERNATIVE_CLIENT_1: 'true',
      AWS_LAMBDA_LOG_FORMAT: format,
      AWS_LAMBDA_LOG_LEVEL: 'TRACE',
      ...(hasChannel ? { _LAMBDA_TELEMETRY_LOG_FD: '3' } : {}),
      _HANDLER: 'index.handler',
      LAMBDA_TASK_ROOT: join(folder, 'task'),
      ...aws.settings,
      AWS_LAMBDA_FUNCTION_NAME: 'f',
      AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '1024',
      AWS_LAMBDA_LOG_GROUP_NAME: 'g',
      AWS_LAMBDA_LOG_STREAM_NAME: 's',
      PLATFORM_BASE_URL: 'https://acme.example.com',
      PLATFORM_TOKEN: 'secret',
      SYNC_STORE: `s3://${aws.bucket('sync')}`,
      SYNC_QUEUE_URL: 'https://sqs.eu-central-1.amazonaws.com/1/jobs',
      SYNC_TABLE: 'sync',
      SYNC_STACK: 'acme',
      SYNC_SNAPSHOT_FUNCTION: 'arn:aws:lambda:eu-central-1:111122223333:function:snapshot:live',
    },
  });
  const written = Promise.all([text(child.stdout as Readable), text(child.stdio[3] as Readable)]);
  const exit = once(child, 'exit').then(([code]) => `exit code ${code}`);
  const ended = await Promise.race([api.ended, exit]);
  child.kill();
  const [output, channel] = await written;
  return { output: output.split('\n').slice(0, -1), channel, ended };
}

/** Starts Lambda's runtime API, which provides one event. `ended`: the path of the request that ended the event. */
async function startRuntimeApi(event: unknown) {
  const { promise: ended, resolve } = Promise.withResolvers<string>();
  const given = json(event, 200, {
    'lambda-runtime-aws-request-id': 'request-1',
    'lambda-runtime-deadline-ms': String(Date.now() + 400_000),
    'lambda-runtime-invoked-function-arn': 'arn:aws:lambda:eu-central-1:1:function:f',
  });
  let isGiven = false;
  const server = await startServer((response, request) => {
    if (!request.target.endsWith('/next')) {
      response.end();
      return resolve(request.target.split('/').at(-1) ?? '');
    }
    // The request for the next event never gets a response.
    if (isGiven) return;
    isGiven = true;
    given(response, request);
  });
  return { ...server, host: `127.0.0.1:${server.port}`, ended };
}

const places: readonly Place[] = [
  { format: 'Text', hasChannel: false },
  { format: 'Text', hasChannel: true },
  { format: 'JSON', hasChannel: false },
  { format: 'JSON', hasChannel: true },
];

test.each(places)('our log lines are JSON as we wrote them: $format, channel $hasChannel', async (place) => {
  const { output, channel, ended } = await invoked(refusable, place);

  expect(ended).toBe('response');
  expect(output.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ msg: 'invocation started' }),
    {
      level: 'warn',
      request: 'request-1',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      messageId: 'm-1',
      refused: expect.stringMatching(/^refused\//),
      faults: expect.any(Array),
      msg: 'message refused',
    },
    expect.objectContaining({ msg: 'measured', service: 'acme', MessagesRefused: 1 }),
    expect.objectContaining({ msg: 'problem', service: 'acme', problem: 'MessagesRefused', value: 1 }),
    expect.objectContaining({ msg: 'invocation ended', request: 'request-1' }),
  ]);
  expect(channel).toBe('');
});
