import type { Context } from 'aws-lambda';
import { once } from '../../lib/base/index.ts';
import { openExpectedJobs } from '../../lib/jobs/index.ts';
import { createLogger } from '../../lib/logger.ts';
import { openBudget, readPaceStatus } from '../../lib/pace/index.ts';
import { needed, readSettings } from '../../lib/settings.ts';
import { expectedSnapshots, missingSnapshots } from '../../lib/snapshot/history/index.ts';
import { openStore, storeUntil } from '../../lib/store/index.ts';
import { createInvocations, openAtStart } from '../invocations.ts';
import { reportLateStart } from '../late-start.ts';
import { measuredLine, problemLine, writeLine } from '../log-lines.ts';
import { throttledProblems } from '../throttling.ts';

/**
 * Reports as a problem each place whose newest published run is too old, and each scheduled job of a function that did
 * not arrive. The event lists the expected snapshots and jobs, or says that a job is due now. As long as no call
 * succeeds, the handler also repeats the reports that the platform refuses the token or throttles one operation.
 */
export async function handler(event: unknown, context: Context) {
  return invocations.run(context, async (nearEnd) => {
    reportLateStart(event, process.env);
    const { store: opened, logger, service, budget, rate, jobsIn } = await ready();
    const store = storeUntil(opened, nearEnd);
    const jobs = jobsIn(store);
    if (await jobs.expect(event)) return undefined;
    const { expected } = expectedSnapshots.parse(event);
    const missing = await missingSnapshots(expected, {
      store,
      now: Date.now,
      warn: (err) => logger.warn({ err }, 'an object is damaged'),
    });
    for (const { place, ...facts } of missing) {
      logger.warn({ place, ...facts }, 'snapshot missing');
      const at = Date.now();
      writeLine(measuredLine({ SnapshotMissing: 1 }, { at, service, place }));
      writeLine(problemLine(`SnapshotMissing-${place}`, facts.hours, { at, service }));
    }
    const missingJobs = await jobs.missing(event);
    for (const { name, id, dueMs } of missingJobs) {
      logger.warn({ id }, 'scheduled job missing');
      const at = Date.now();
      writeLine(problemLine(`FunctionMissing-${name}`, (at - dueMs) / HOUR_MS, { at, service }));
    }
    const { throttledOperations, nowMs, budget: seen } = await readPaceStatus(budget, rate);
    for (const [problem, minutes] of throttledProblems(throttledOperations, nowMs))
      writeLine(problemLine(problem, minutes, { at: nowMs, service }));
    const { tokenRefusedAtMs } = seen;
    if (tokenRefusedAtMs !== undefined) {
      const at = Date.now();
      logger.warn({ since: new Date(tokenRefusedAtMs).toISOString() }, 'token refused');
      writeLine(problemLine('Unauthorized', at - tokenRefusedAtMs, { at, service }));
    }
    return { missing: [...missing, ...missingJobs] };
  });
}

const HOUR_MS = 3_600_000;

const invocations = createInvocations();

/** Opened when the process starts and shared by all events; if opening fails, the next event tries again. */
const ready = once(open);
await openAtStart(ready);

async function open() {
  const settings = readSettings(process.env);
  const table = needed(settings, 'SYNC_TABLE');
  const { host } = new URL(settings.PLATFORM_BASE_URL);
  return {
    jobsIn: await openExpectedJobs(table, process.env),
    budget: await openBudget({ table, host, environment: process.env }),
    store: await openStore(settings.SYNC_STORE, { s3: process.env }),
    logger: createLogger(settings.LOG_LEVEL, writeLine),
    service: settings.SYNC_STACK,
    rate: settings.PLATFORM_RATE,
  };
}
