import type { Context } from 'aws-lambda';
import type { Logger } from 'pino';
import { createLogger } from '../../lib/logger.ts';
import { renewModel } from '../../lib/model/index.ts';
import { once } from '../../lib/once.ts';
import { afterPublishing, afterPublishingEvent } from '../../lib/report/after-publishing.ts';
import { writeReport } from '../../lib/report/write-report.ts';
import { readSettings } from '../../lib/settings.ts';
import { openStore } from '../../lib/store/open.ts';
import type { Store } from '../../lib/store/store.ts';
import { storeUntil } from '../../lib/store/until.ts';
import { createInvocations } from '../invocations.ts';
import { openAtStart } from '../open-at-start.ts';
import { writeLine } from '../write-line.ts';

/** Writes the report if a run was published that it does not show, and sends the digests of runs that have none yet. */
export async function handler(event: unknown, context: Context) {
  return invocations.run(context, async (nearEnd) => {
    const { store, logger } = await ready();
    await renew(store, logger, nearEnd);
    const done = await afterPublishing({
      ...afterPublishingEvent.parse(event),
      store,
      async write(options) {
        const { faults } = await writeReport(options);
        if (faults.length > 0)
          logger.warn({ faults: faults.slice(0, MOST_FAULTS) }, 'report written with faults');
      },
      openSender,
      now: Date.now,
      warn: (what, err) => logger.warn({ err }, what),
      signal: nearEnd,
    });
    if (done.report === 'written' || done.digests.length > 0) logger.info(done, 'report');
    return done;
  });
}

/** What could not be read is in the report, too. */
const MOST_FAULTS = 20;

/** Renews what SQL in the account reads. Whoever fails is looked at again with the next event; the report goes out all the same. */
async function renew(store: Store, logger: Logger, signal: AbortSignal): Promise<void> {
  const faults: string[] = [];
  try {
    await renewModel({
      store: storeUntil(store, signal),
      now: Date.now,
      addFault: (fault) => faults.push(fault),
      signal,
    });
  } catch (err) {
    logger.warn({ err }, 'model not renewed');
  }
  if (faults.length > 0) logger.warn({ faults: faults.slice(0, MOST_FAULTS) }, 'model renewed with faults');
}

const invocations = createInvocations();

async function openSender(topics: readonly string[]) {
  const { logger } = await ready();
  const { createTopicSender } = await import('../../lib/report/digest/topic-sender.ts');
  return createTopicSender({
    topics,
    environment: process.env,
    warn: (what, err) => logger.warn({ err }, what),
  });
}

/** Opened when the process starts and shared by all events; if opening fails, the next event tries again. */
const ready = once(open);
await openAtStart(ready);

async function open() {
  const { SYNC_STORE, LOG_LEVEL } = readSettings(process.env);
  return {
    store: await openStore(SYNC_STORE, { s3: process.env }),
    logger: createLogger(LOG_LEVEL, writeLine),
  };
}
