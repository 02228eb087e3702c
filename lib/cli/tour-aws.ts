import { fileURLToPath } from 'node:url';
import { createLedger } from '../jobs/ledger/create-ledger.ts';
import { hasEnded } from '../jobs/ledger/job.ts';
import { sleep } from '../pace/sleep.ts';
import { startEventSourceMapping } from '../sandbox/aws/event-source-mapping.ts';
import { startAws } from '../sandbox/aws/start-aws.ts';
import { createDynamoTable } from '../table/dynamo-table.ts';
import type { Terminal } from './terminal.ts';

const HANDLER = fileURLToPath(new URL('../../functions/run-jobs/handler.ts', import.meta.url));

/** Above the 330 s that a code function may take; the visibility above that. */
const TIMEOUT_MS = 350_000;
const VISIBILITY_SECONDS = 380;

const QUEUE = 'platform-sync-jobs';
const TABLE = 'platform-sync';

/** All jobs of the tour together. */
const LONGEST_MS = 60_000;
const LOOK_EVERY_MS = 100;

export type RunJobsOptions = {
  readonly environment: Terminal['environment'];
  /** The jobs that are waited for. */
  readonly ids: readonly string[];
  readonly onLog: (line: string) => void;
};

export type TourAws = AsyncDisposable & {
  /** The settings that reach the queue and the table. */
  readonly settings: Readonly<Record<string, string>>;
  /** Runs the deployed handler until these jobs have ended. Throws if that takes a minute. */
  readonly runJobs: (options: RunJobsOptions) => Promise<void>;
};

/** The local queue and table of the tour, and what takes jobs from them. */
export async function startTourAws(): Promise<TourAws> {
  const aws = await startAws({
    queues: [{ name: QUEUE, visibilitySeconds: VISIBILITY_SECONDS }],
    tables: [TABLE],
  });
  const queueUrl = aws.queueUrl(QUEUE);
  return {
    settings: { ...aws.settings, SYNC_QUEUE_URL: queueUrl, SYNC_TABLE: TABLE },
    async runJobs({ environment, ids, onLog }) {
      await using _mapping = await startEventSourceMapping({
        aws,
        queueUrl,
        file: HANDLER,
        environment: { ...definedIn(environment), LOG_LEVEL: 'warn' },
        timeoutMs: TIMEOUT_MS,
        onLog,
      });
      const ledger = createLedger({ table: createDynamoTable({ tableName: TABLE, environment }) });
      for (let waitedMs = 0; waitedMs < LONGEST_MS; waitedMs += LOOK_EVERY_MS) {
        const jobs = await Promise.all(ids.map((id) => ledger.read(id)));
        if (jobs.every((job) => job !== undefined && hasEnded(job))) return;
        await sleep(LOOK_EVERY_MS);
      }
      throw new Error(`expected the jobs ${ids.join(', ')} to end within ${LONGEST_MS / 1000} s`);
    },
    [Symbol.asyncDispose]: () => aws.close(),
  };
}

const definedIn = (environment: Terminal['environment']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
