import { type DurableLambdaHandler, withDurableExecution } from '@aws/durable-execution-sdk-js';
import type { Logger } from 'pino';
import { withIds } from '../../lib/base/aws/index.ts';
import { once, sleep } from '../../lib/base/index.ts';
import { parseExecutionInput } from '../../lib/jobs/index.ts';
import { openSession } from '../../lib/session.ts';
import { type DurableRunOptions, takeDurableSnapshot, timesOf } from '../../lib/snapshot/index.ts';
import { readGates } from '../../lib/snapshot/sources/index.ts';
import { createInvocations, openAtStart } from '../invocations.ts';
import { writeLine } from '../log-lines.ts';
import { createMetrics } from '../metrics.ts';
import { createCheckpointClient } from './checkpoint-client.ts';
import { durableSteps } from './durable-steps.ts';

/** Takes the snapshot that a job asks for, over as many invocations as it needs. */
export const handler: DurableLambdaHandler = async (event, context) => {
  return await invocations.run(context, async () => {
    const { metrics } = await ready();
    // Flushed here and not within the execution: when an execution is suspended at a wait, the code after it does
    // not run.
    using _ = { [Symbol.dispose]: metrics.flush };
    return await execute(event, context);
  });
};

const invocations = createInvocations();

/** Runs one invocation of the durable execution: from its last stored step to its end, or to its next wait. */
const execute = withDurableExecution(
  async (input: unknown, context) => {
    const { logger, options, session } = await ready();
    const steps = durableSteps(context, {
      inHand: invocations.inHand,
      onFailed: (failed) => logger.warn(failed, 'step failed'),
    });
    const call = session.callWith({ budgetMs: timesOf(steps.limitMs).patienceMs });
    return withIds({ job: Object(input).id }, async () =>
      takeDurableSnapshot(await parseInput(input, logger), steps, { ...options, call }),
    );
  },
  { client: createCheckpointClient(process.env) },
);

/**
 * Parses the input of the execution. An invalid input ends the execution, since a replay would find the same fault.
 */
async function parseInput(input: unknown, logger: Logger) {
  try {
    return await parseExecutionInput(input);
  } catch (err) {
    const { source, as } = Object(input);
    logger.error({ source, as, kind: 'failed', err }, SNAPSHOT_ENDED);
    throw err;
  }
}

const SNAPSHOT_ENDED = 'snapshot ended';

/** Logs one line for each run, however it ended. */
function logEnd(logger: Logger, ended: Parameters<NonNullable<DurableRunOptions['onEnded']>>[0]): void {
  const level = ({ published: 'info', superseded: 'info', refused: 'warn', failed: 'error' } as const)[
    ended.kind
  ];
  logger[level](ended, SNAPSHOT_ENDED);
}

/** Opened when the process starts and shared by all events; if opening fails, the next event tries again. */
const ready = once(open);
await openAtStart(ready);

async function open() {
  const environment = process.env;
  const metrics = createMetrics(environment, writeLine);
  const session = openSession({
    environment,
    err: writeLine,
    inHand: invocations.inHand,
    reserve: 'single',
    observe: metrics.observe,
  });
  const { settings, callCounts, paceCounts, logger } = session;
  metrics.followPace(paceCounts);
  const store = await session.store();
  const options: Omit<DurableRunOptions, 'call'> = {
    store,
    compression: settings.SYNC_COMPRESSION,
    partMs: settings.SYNC_PART_SECONDS * 1_000,
    gates: readGates(settings.SYNC_GATES),
    host: new URL(settings.PLATFORM_BASE_URL).host,
    callCounts,
    paceCounts,
    onBegun: (begun) => logger.info(begun, 'snapshot started'),
    onEnded: (ended) => {
      const { place, kind } = ended;
      logEnd(logger, ended);
      if (kind === 'published' || kind === 'refused') metrics.snapshotEnded({ place, kind });
    },
    now: Date.now,
    random: Math.random,
    sleep,
  };
  return { metrics, logger, session, options };
}
