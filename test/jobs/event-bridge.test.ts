import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { sendToEventBridge } from '../../lib/jobs/event-bridge.ts';
import { environmentOf, jsonReply, lost, retryAtOnce } from '../base/aws/replies.ts';
import { startServer } from '../platform/scripted-server.ts';

const finished = {
  id: 'j1',
  type: 'score',
  status: 'done',
  result: 'results/score/dt=2026-11-21/j1.json',
} as const;

describe('an event that EventBridge refused in a response with status 200', () => {
  const mockEvents = () => mockClient(EventBridgeClient);
  let events: ReturnType<typeof mockEvents>;

  beforeEach(() => {
    events = mockEvents();
  });

  afterEach(() => events.restore());

  test.for([
    ['ThrottlingException', { kind: 'busy', code: 'ThrottlingException' }],
    ['InternalFailure', { kind: 'busy', code: 'InternalFailure' }],
    ['NotAuthorizedForSourceException', { kind: 'denied', code: 'NotAuthorizedForSourceException' }],
  ] as const)('is an error with its code: %s', async ([ErrorCode, failure]) => {
    events
      .on(PutEventsCommand)
      .resolves({ FailedEntryCount: 1, Entries: [{ ErrorCode, ErrorMessage: 'not accepted' }] });
    const report = sendToEventBridge({ bus: 'default', store: 's3://sync', environment: {} });

    const reported = report(finished);

    await expect(reported).rejects.toMatchObject({
      name: 'AwsError',
      message: expect.stringContaining(`JobFinished of j1 to default: ${ErrorCode}: not accepted`),
      failure,
    });
  });

  test('is an error even if the response gives no reason', async () => {
    events.on(PutEventsCommand).resolves({ FailedEntryCount: 1 });
    const report = sendToEventBridge({ bus: 'default', store: 's3://sync', environment: {} });

    await expect(report(finished)).rejects.toThrow('JobFinished of j1 to default: unknown');
  });
});

describe('over a connection', () => {
  beforeEach(() => void retryAtOnce());
  afterEach(() => vi.restoreAllMocks());

  test('a finished job is announced with the key of its result, again if the response was lost', async () => {
    const done = jsonReply({ FailedEntryCount: 0, Entries: [{ EventId: 'e1' }] });
    await using bus = await startServer(lost, done);
    const environment = environmentOf(bus);

    await sendToEventBridge({ bus: 'default', store: 's3://sync', environment })(finished);

    const Detail = JSON.stringify({ ...finished, store: 's3://sync' });
    const entry = { EventBusName: 'default', Source: 'platform-sync', DetailType: 'JobFinished', Detail };
    expect(bus.requests.map(({ body }) => JSON.parse(body))).toEqual(Array(2).fill({ Entries: [entry] }));
  });
});
