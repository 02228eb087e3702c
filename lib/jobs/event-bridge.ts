import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { type AwsEnvironment, AwsError, asAwsError, awsClientConfig, entryError } from '../base/aws/index.ts';
import type { JobFinished } from './result.ts';

/**
 * Sends an event `JobFinished` of `platform-sync`: `{id, type, status, result, store}`. Throws `AwsError` if
 * it was not accepted.
 */
export function sendToEventBridge(options: {
  readonly bus: string;
  /** The location of the store in which the event's `result` is a key. */
  readonly store: string;
  readonly environment: AwsEnvironment;
}) {
  const { bus, store, environment } = options;
  const client = new EventBridgeClient(
    awsClientConfig(environment, {
      service: 'EVENTBRIDGE',
      connectionTimeoutMs: CONNECTION_TIMEOUT_MS,
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
    }),
  );
  return async (event: JobFinished): Promise<void> => {
    const entry = {
      EventBusName: bus,
      Source: 'platform-sync',
      DetailType: 'JobFinished',
      Detail: JSON.stringify({ ...event, store }),
    };
    const tried = `JobFinished of ${event.id} to ${bus}`;
    const { FailedEntryCount = 0, Entries = [] } = await asAwsError({ resource: 'event-bus', tried }, () =>
      client.send(new PutEventsCommand({ Entries: [entry] })),
    );
    // The response is 200 even if the event was refused.
    if (FailedEntryCount === 0) return;
    const { ErrorCode, ErrorMessage } = Entries[0] ?? {};
    throw new AwsError('event-bus', tried, entryError(ErrorCode, ErrorMessage));
  };
}

const CONNECTION_TIMEOUT_MS = 5_000;
const REQUEST_TIMEOUT_MS = 10_000;
