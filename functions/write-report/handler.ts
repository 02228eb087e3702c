import type { Context } from 'aws-lambda';
import type { Logger } from 'pino';
import { once } from '../../lib/base/index.ts';
import { createLogger } from '../../lib/logger.ts';
import { type ModelToOpen, renewModel } from '../../lib/model/index.ts';
import { afterPublishing, afterPublishingEvent, writeReport } from '../../lib/report/after-publishing.ts';
import { createFailures } from '../../lib/report/failures.ts';
import { readSettings } from '../../lib/settings.ts';
import { openStore } from '../../lib/store/index.ts';
import { createInvocations, openAtStart } from '../invocations.ts';
import { reportLateStart } from '../late-start.ts';
import { problemLine, writeLine } from '../log-lines.ts';

/** Writes the report if a run was published that it does not show, and sends the digests of runs that have none yet. */
export async function handler(event: unknown, context: Context) {
  return invocations.run(context, async (nearEnd) => {
    reportLateStart(event, process.env);
    const { store, links, logger, failures } = await ready();
    const looked = afterPublishing({
      ...afterPublishingEvent.parse(event),
      store,
      links,
      async write(options) {
        const faults = await failures.during(() => writeReport(options));
        if (faults.length > 0)
          logger.warn({ faults: faults.slice(0, MAX_FAULTS) }, 'report written with faults');
      },
      renew: (options) => renew(options, logger),
      openSender,
      now: Date.now,
      warn: (what, err) => logger.warn({ err }, what),
      signal: nearEnd,
    });
    const done = await looked.catch(async (error: unknown) => {
      await failures.add();
      throw error;
    });
    if (done.report === 'written' || done.digests.length > 0) logger.info(done, 'report');
    return done;
  });
}

/** What could not be read is in the report, too. */
const MAX_FAULTS = 20;

/** Whoever fails is looked at again with the next event; the digests go out all the same. */
async function renew(options: Omit<ModelToOpen, 'addFault'>, logger: Logger): Promise<void> {
  const faults: string[] = [];
  try {
    await renewModel({ ...options, addFault: (fault) => faults.push(fault) });
  } catch (err) {
    logger.warn({ err }, 'model not renewed');
  }
  if (faults.length > 0) logger.warn({ faults: faults.slice(0, MAX_FAULTS) }, 'model renewed with faults');
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
  const { SYNC_STORE, SYNC_STACK: service, PLATFORM_LINKS: links, LOG_LEVEL } = readSettings(process.env);
  const store = await openStore(SYNC_STORE, { s3: process.env });
  return {
    store,
    links,
    failures: createFailures({
      store,
      now: Date.now,
      onOften: (times) => writeLine(problemLine('ReportFailed', times, { at: Date.now(), service })),
    }),
    logger: createLogger(LOG_LEVEL, writeLine),
  };
}
