import type { Context, EventBridgeEvent } from 'aws-lambda';
import { once } from '../../lib/base/index.ts';
import { type JobStorage, openJobStorage } from '../../lib/jobs/job-storage.ts';
import { splitInbox } from '../../lib/jobs/split-inbox.ts';
import { createLogger } from '../../lib/logger.ts';
import { needed, readSettings } from '../../lib/settings.ts';
import { keyInStore, openStore, storeUntil } from '../../lib/store/index.ts';
import { tableCheckOf } from '../../lib/table/index.ts';
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
    const { location, metrics, storage, ...options } = await ready();
    using _metrics = { [Symbol.dispose]: metrics.flush };
    const key = keyInStore(location, bucket.name, object.key);
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
  const environment = process.env;
  const settings = readSettings(environment);
  const { SYNC_STORE: location } = settings;
  const queueUrl = needed(settings, 'SYNC_QUEUE_URL');
  const store = once(() => openStore(location, { s3: environment }));
  const checkTable = tableCheckOf(needed(settings, 'SYNC_TABLE'), environment, store);
  // Loaded here, like every client of the SDK.
  const [storage, { createSqsClient, createSqsQueue }] = await Promise.all([
    openJobStorage({ environment, settings, store, checkTable }),
    import('../../lib/jobs/queue/sqs-queue.ts'),
  ]);
  return {
    location,
    metrics: createMetrics(environment, writeLine),
    storage,
    queue: createSqsQueue(queueUrl, createSqsClient(queueUrl, environment)),
    rate: settings.PLATFORM_RATE,
    logger: createLogger(settings.LOG_LEVEL, writeLine),
  };
}
