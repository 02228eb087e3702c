import type { Context, EventBridgeEvent } from 'aws-lambda';
import { once } from '../../lib/base/index.ts';
import { openInbox } from '../../lib/jobs/texts/index.ts';
import { createLogger } from '../../lib/logger.ts';
import { readSettings } from '../../lib/settings.ts';
import { keyInStore } from '../../lib/store/index.ts';
import { createInvocations, openAtStart } from '../invocations.ts';
import { writeLine } from '../log-lines.ts';
import { createMetrics } from '../metrics.ts';

/** The fields of S3's event for a new object that are used here. */
type ObjectCreated = {
  readonly bucket: { readonly name: string };
  readonly object: { readonly key: string };
};

/** Splits the texts of a request in the inbox into jobs. */
export async function handler(
  { detail: { bucket, object } }: EventBridgeEvent<'Object Created', ObjectCreated>,
  context: Context,
) {
  return invocations.run(context, async (nearEnd) => {
    using _key = invocations.inHand.hold({ key: object.key });
    const { location, metrics, split: splitKey } = await ready();
    using _metrics = { [Symbol.dispose]: metrics.flush };
    const split = await splitKey(keyInStore(location, bucket.name, object.key), nearEnd);
    if (split.kind === 'refused') metrics.messageRefused();
    return split;
  });
}

const invocations = createInvocations();

/** Opened when the process starts and shared by all events; if opening fails, the next event tries again. */
const ready = once(open);
await openAtStart(ready);

async function open() {
  const environment = process.env;
  const settings = readSettings(environment);
  const logger = createLogger(settings.LOG_LEVEL, writeLine);
  return {
    location: settings.SYNC_STORE,
    metrics: createMetrics(environment, writeLine),
    split: await openInbox({ environment, settings, logger }),
  };
}
