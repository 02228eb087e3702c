import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { type AwsEnvironment, awsClientConfig } from '../aws/client-config.ts';
import type { JobFinished } from './handle-message.ts';

export type EventBridgeOptions = {
  /** Name or ARN. */
  readonly bus: string;
  /** Where the results lie: an event names the key of one. */
  readonly store: string;
  readonly environment: AwsEnvironment;
};

/**
 * Tells of ended jobs by way of EventBridge: `platform-sync` / `JobFinished`, with `{id, type, status, result, store}`.
 * Throws where an event was not taken: the job's message comes back, and it is told again.
 */
export function tellEventBridge({ bus, store, environment }: EventBridgeOptions) {
  const client = new EventBridgeClient(
    awsClientConfig(environment, { service: 'EVENTBRIDGE', connectionTimeoutMs, requestTimeoutMs }),
  );
  return async (event: JobFinished): Promise<void> => {
    const entry = {
      EventBusName: bus,
      Source: 'platform-sync',
      DetailType: 'JobFinished',
      Detail: JSON.stringify({ ...event, store }),
    };
    const { FailedEntryCount = 0, Entries = [] } = await client.send(
      new PutEventsCommand({ Entries: [entry] }),
    );
    // An event that is refused is answered with 200 all the same.
    if (FailedEntryCount === 0) return;
    const { ErrorCode, ErrorMessage } = Entries[0] ?? {};
    throw new Error(`JobFinished of ${event.id} to ${bus}: ${ErrorCode}: ${ErrorMessage ?? ''}`);
  };
}

const connectionTimeoutMs = 5_000;
const requestTimeoutMs = 10_000;
