import type { Context } from 'aws-lambda';
import { once } from '../../lib/base/index.ts';
import { createLogger } from '../../lib/logger.ts';
import { followPublications } from '../../lib/report/index.ts';
import { readSettings } from '../../lib/settings.ts';
import { openStore } from '../../lib/store/index.ts';
import { createInvocations, openAtStart } from '../invocations.ts';
import { reportLateStart } from '../late-start.ts';
import { problemLine, writeLine } from '../log-lines.ts';

/** Writes the report if it does not show the last published runs. Sends the digests of runs for which none was sent. */
export async function handler(event: unknown, context: Context) {
  return invocations.run(context, async (nearEnd) => {
    reportLateStart(event, process.env);
    const { follow, logger } = await ready();
    const done = await follow(event, nearEnd);
    if (done.report === 'written' || done.digests.length > 0) logger.info(done, 'report');
    return done;
  });
}

const invocations = createInvocations();

/** Opened when the process starts and shared by all events; if opening fails, the next event tries again. */
const ready = once(open);
await openAtStart(ready);

async function open() {
  const settings = readSettings(process.env);
  const { SYNC_STORE, SYNC_STACK: service, PLATFORM_LINKS: links, LOG_LEVEL } = settings;
  const logger = createLogger(LOG_LEVEL, writeLine);
  const follow = await followPublications({
    store: await openStore(SYNC_STORE, { s3: process.env }),
    links,
    prices: settings.PLATFORM_PRICES,
    now: Date.now,
    environment: process.env,
    warn: (what, fields) => logger.warn(fields, what),
    onOftenFailed: (times) => writeLine(problemLine('ReportFailed', times, { at: Date.now(), service })),
  });
  return { follow, logger };
}
