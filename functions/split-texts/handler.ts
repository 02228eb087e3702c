import type { Context, EventBridgeEvent } from 'aws-lambda';
import { once } from '../../lib/base/index.ts';
import { type JobStorage, openJobStorage } from '../../lib/jobs/job-storage.ts';
import { splitInbox } from '../../lib/jobs/split-inbox.ts';
import { openSession } from '../../lib/session.ts';
import { needed } from '../../lib/settings.ts';
import { keyInStore, storeUntil } from '../../lib/store/index.ts';
import { createInvocations, openAtStart } from '../invocations.ts';
import { writeLine } from '../log-lines.ts';
import { createMetrics } from '../metrics.ts';

/** The part that is used of the event that S3 sends for a new object. */
type ObjectCreated = {
  readonly bucket: { readonly name: string };
  readonly object: { readonly key: string };
};

/** Splits a request from the inbox into jobs. */
export async function handler(
  { detail: { bucket, object } }: EventBridgeEvent<'Object Created', ObjectCreated>,
  context: Context,
) {
  return invocations.run(context, async (nearEnd) => {
    using _key = invocations.inHand.hold({ key: object.key });
    const { session, metrics, storage, ...options } = await ready();
    using _metrics = { [Symbol.dispose]: metrics.flush };
    const key = keyInStore(session.settings.SYNC_STORE, bucket.name, object.key);
    const split = await unlessAborted(
      splitInbox(key, { ...options, storage: storageUntil(storage, nearEnd) }),
      nearEnd,
    );
    if (split.kind === 'refused') metrics.messageRefused();
    return split;
  });
}

const invocations = createInvocations();

/** What the work returns, or the signal's reason as soon as it is aborted: SQS and the table take no signal. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => aborted.reject(signal.reason), { once: true });
  return await Promise.race([work, aborted.promise]);
}

/** S3 may take minutes for a try, which must not be the last that is seen of a request. */
function storageUntil(storage: JobStorage, until: AbortSignal): JobStorage {
  const store = storeUntil(storage.store, until);
  return { ...storage, store, batches: { ...storage.batches, store } };
}

/** Opened when the process starts and shared by all events; if opening fails, the next event tries again. */
const ready = once(open);
await openAtStart(ready);

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
