import { type DurableLambdaHandler, withDurableExecution } from '@aws/durable-execution-sdk-js';
import { parseExecutionInput } from '../../lib/jobs/types/snapshot/execution-input.ts';
import { once } from '../../lib/once.ts';
import { openSession } from '../../lib/session.ts';
import type { DurableRunOptions } from '../../lib/snapshot/durable/durable-run.ts';
import { takeDurableSnapshot } from '../../lib/snapshot/durable/durable-snapshot.ts';
import { openPartitions } from '../../lib/snapshot/publish/open-partitions.ts';
import { sleep } from '../../lib/time/sleep.ts';
import { createMetrics } from '../metrics.ts';
import { writeLine } from '../write-line.ts';
import { durableSteps } from './durable-steps.ts';

/** Takes the snapshot of a job, over as many invocations as it needs. */
export const handler: DurableLambdaHandler = async (event, context) => {
  const { metrics } = await ready();
  // Here and not inside the execution: when it is suspended, nothing after the wait runs.
  using _ = { [Symbol.dispose]: metrics.flush };
  return await takeOver(event, context);
};

const takeOver = withDurableExecution(async (input: unknown, context) =>
  takeDurableSnapshot(parseExecutionInput(input), durableSteps(context), (await ready()).options),
);

/** Longer outages are waited out between steps, which costs nothing. */
const PATIENCE_MS = 60_000;

/** Opened by the first event and shared by later ones; if opening fails, the next event tries again. */
const ready = once(open);

async function open() {
  const environment = process.env;
  const metrics = createMetrics(environment, writeLine);
  const session = openSession({
    environment,
    err: writeLine,
    greed: 'one',
    observe: metrics.observe,
    onSafeRate: metrics.onSafeRate,
  });
  const { settings, callCounts, paceCounts } = session;
  metrics.followPace(paceCounts);
  const store = await session.store();
  const options: DurableRunOptions = {
    call: session.platformWith({ budgetMs: PATIENCE_MS }).call,
    store,
    compression: settings.SYNC_COMPRESSION,
    partMs: settings.SYNC_PART_SECONDS * 1_000,
    host: new URL(settings.PLATFORM_BASE_URL).host,
    callCounts,
    paceCounts,
    partitions: openPartitions({ database: settings.SYNC_GLUE_DATABASE, store, environment }),
    warn: (what, err) => session.logger.warn({ what, err }, 'published with a fault'),
    onEnded: ({ place, kind }) => {
      if (kind !== 'superseded') metrics.snapshotEnded({ place, kind });
    },
    now: Date.now,
    random: Math.random,
    sleep,
  };
  return { metrics, options };
}
