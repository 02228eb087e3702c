import type { EventBridgeEvent } from 'aws-lambda';
import { openJobStorage } from '../../lib/jobs/job-storage.ts';
import { splitInbox } from '../../lib/jobs/split-inbox.ts';
import { once } from '../../lib/once.ts';
import { openSession } from '../../lib/session.ts';
import { needed } from '../../lib/settings.ts';
import { keyInStore } from '../../lib/store/key-in-store.ts';
import { createMetrics } from '../metrics.ts';
import { writeLine } from '../write-line.ts';

/** The part that is used of the event that S3 sends for a new object. */
type ObjectCreated = {
  readonly bucket: { readonly name: string };
  readonly object: { readonly key: string };
};

/** Splits a request from the inbox into jobs. */
export async function handler(event: EventBridgeEvent<'Object Created', ObjectCreated>) {
  const { session, metrics, ...options } = await ready();
  using _ = { [Symbol.dispose]: metrics.flush };
  const { bucket, object } = event.detail;
  const split = await splitInbox(keyInStore(session.settings.SYNC_STORE, bucket.name, object.key), options);
  if (split.kind === 'refused') metrics.messageRefused();
  return split;
}

/** Opened by the first event and shared by later ones; if opening fails, the next event tries again. */
const ready = once(open);

async function open() {
  const session = openSession({ environment: process.env, err: writeLine });
  const { settings, logger } = session;
  const queueUrl = needed(settings, 'SYNC_QUEUE_URL');
  // Loaded here, like every client of the SDK.
  const [storage, { createSqsClient, createSqsQueue }] = await Promise.all([
    openJobStorage(session),
    import('../../lib/jobs/queue/sqs-queue.ts'),
  ]);
  return {
    session,
    metrics: createMetrics(process.env, writeLine),
    storage,
    queue: createSqsQueue(queueUrl, createSqsClient(queueUrl, process.env)),
    rate: settings.PLATFORM_RATE,
    logger,
  };
}
