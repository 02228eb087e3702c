import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { sendToEventBridge } from '../../lib/jobs/event-bridge.ts';

const finished = {
  id: 'j1',
  type: 'score',
  status: 'done',
  result: 'results/score/dt=2026-11-21/j1.json',
} as const;

/** An event bus on loopback that always sends this response, and records its requests. */
async function startBus(body: object) {
  const requests: { readonly target: unknown; readonly body: unknown }[] = [];
  const server = createServer(async (request, response) => {
    requests.push({ target: request.headers['x-amz-target'], body: JSON.parse(await text(request)) });
    response.setHeader('content-type', 'application/x-amz-json-1.1');
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const environment = {
    AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'key',
    AWS_SECRET_ACCESS_KEY: 'secret',
  };
  return {
    requests,
    report: sendToEventBridge({ bus: 'default', store: 's3://sync', environment }),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test('a finished job is reported with the key of its result', async () => {
  await using bus = await startBus({ FailedEntryCount: 0, Entries: [{ EventId: 'e1' }] });

  await bus.report(finished);

  expect(bus.requests).toEqual([
    {
      target: 'AWSEvents.PutEvents',
      body: {
        Entries: [
          {
            EventBusName: 'default',
            Source: 'platform-sync',
            DetailType: 'JobFinished',
            Detail: JSON.stringify({ ...finished, store: 's3://sync' }),
          },
        ],
      },
    },
  ]);
});

test('an event that was not accepted is an error, so that the job’s message is delivered again', async () => {
  await using bus = await startBus({
    FailedEntryCount: 1,
    Entries: [{ ErrorCode: 'InternalFailure', ErrorMessage: 'try again' }],
  });

  await expect(bus.report(finished)).rejects.toThrow(
    'JobFinished of j1 to default: InternalFailure: try again',
  );
});
