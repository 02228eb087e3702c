import type { Context } from 'aws-lambda';
import * as z from 'zod/mini';
import { once } from '../../lib/base/index.ts';
import { moveDeadLetters, openQueue } from '../../lib/jobs/index.ts';
import { createLogger } from '../../lib/logger.ts';
import { needed, readSettings } from '../../lib/settings.ts';
import { createInvocations, openAtStart } from '../invocations.ts';
import { reportLateStart } from '../late-start.ts';
import { writeLine } from '../log-lines.ts';

/**
 * One empty receive is enough, since this runs again in an hour. It must be a long poll: only those query all SQS
 * servers.
 */
const POLLS = { waitSeconds: 1, emptyPolls: 1 };

const movesFrom = z.object({ from: z.array(z.string()) });

/** Moves messages to the main queue from the queues listed in the event, which no function reads. */
export async function handler(event: unknown, context: Context) {
  return invocations.run(context, async (nearEnd) => {
    reportLateStart(event, process.env);
    const { queueOf, to, logger } = await ready();
    for (const url of movesFrom.parse(event).from) {
      const move = moveDeadLetters({ from: await queueOf(url), to, polls: POLLS, signal: nearEnd });
      // If time is nearly up, the move stops; the invocation of the next hour continues it.
      const result = await move.catch((error: unknown) =>
        nearEnd.aborted ? undefined : Promise.reject(error),
      );
      if (result === undefined) return;
      const { moved, notMoved } = result;
      if (moved > 0) logger.info({ queue: url, moved }, 'jobs moved');
      if (notMoved.length > 0)
        throw new Error(`${url}: ${notMoved.length} messages were not moved: ${notMoved[0]?.error}`);
    }
  });
}

const invocations = createInvocations();

/** Opened when the process starts and shared by all events; if opening fails, the next event tries again. */
const ready = once(open);
await openAtStart(ready);

async function open() {
  const settings = readSettings(process.env);
  const to = needed(settings, 'SYNC_QUEUE_URL');
  const queueOf = (url: string) => openQueue(url, process.env);
  return { queueOf, to: await queueOf(to), logger: createLogger(settings.LOG_LEVEL, writeLine) };
}
