import type { Context } from 'aws-lambda';
import { once } from '../../lib/base/index.ts';
import { createLogger } from '../../lib/logger.ts';
import { readSettings } from '../../lib/settings.ts';
import { openStore, storeUntil } from '../../lib/store/index.ts';
import { openPartitions, writeTables } from '../../lib/tables/index.ts';
import { createInvocations, openAtStart } from '../invocations.ts';
import { writeLine } from '../log-lines.ts';

/**
 * No file is started if less time than this is left, in milliseconds. A file takes seconds. A file that is not finished
 * is started again by the next invocation.
 */
const MIN_LEFT_MS = 120_000;

/** Builds the missing tables of runs: for one place after a publication, and for all places at night. */
export async function handler(event: unknown, context: Context) {
  return invocations.run(context, async (nearEnd) => {
    const { store, partitions, logger } = await ready();
    const written = await writeTables(event, {
      store: storeUntil(store, nearEnd),
      partitions,
      isOver: () => context.getRemainingTimeInMillis() < MIN_LEFT_MS,
      warn: (what, err) => logger.warn({ err }, what),
      signal: nearEnd,
    });
    logger.info(written, 'tables written');
    return written;
  });
}

const invocations = createInvocations();

/** Opened when the process starts and shared by all events; if opening fails, the next event tries again. */
const ready = once(open);
await openAtStart(ready);

async function open() {
  const { SYNC_STORE, SYNC_GLUE_DATABASE: database, LOG_LEVEL } = readSettings(process.env);
  const store = await openStore(SYNC_STORE, { s3: process.env });
  return {
    store,
    partitions: openPartitions({ database, store, environment: process.env }),
    logger: createLogger(LOG_LEVEL, writeLine),
  };
}
