import { createLedger } from '../../jobs/ledger/create-ledger.ts';
import { hasEnded } from '../../jobs/ledger/job-row.ts';
import { jobTypes } from '../../jobs/types/job-types.ts';
import { OLDEST_COUNTS_MS } from '../../sandbox/aws/documented/sqs/counts-lag.ts';
import { startStack } from '../../sandbox/aws/stack/start-stack.ts';
import { synthStack } from '../../sandbox/aws/stack/synth-stack.ts';
import { readStack } from '../../sandbox/aws/stack/template.ts';
import type { Sandbox } from '../../sandbox/platform/start-platform.ts';
import { createDynamoTable } from '../../table/dynamo-table.ts';
import { sleep } from '../../time/sleep.ts';

/** A stack does not accept a loopback address, so this one stands in for it. */
const BASE_URL = 'https://tour.invalid';

/** The limit for all jobs of the tour together. */
const LONGEST_MS = 60_000;
const LOOK_EVERY_MS = 100;

/** What is shown of the function's log if the jobs do not end. */
const LAST_LINES = 10;

export type TourAwsOptions = {
  readonly platform: Pick<Sandbox, 'url' | 'token' | 'tokenHeader'>;
  /** The directory that results go to. */
  readonly store: string;
  /** Requests a second. */
  readonly rate: number;
  readonly signal: AbortSignal;
};

export type TourAws = AsyncDisposable & {
  /** The settings that reach the queue and the table. */
  readonly settings: Readonly<Record<string, string>>;
  /** Runs the deployed function until these jobs have ended. Throws its last lines if that takes a minute. */
  readonly runJobs: (ids: readonly string[]) => Promise<void>;
};

/** The stack of the tour, as `cdk synth` makes it, over local services. If the command fails, throws its output. */
export async function startTourAws(options: TourAwsOptions): Promise<TourAws> {
  const { signal } = options;
  const logged: string[] = [];
  await using started = new AsyncDisposableStack();
  const { folder } = started.use(await synthStack(instanceOf(options), signal));
  const stack = started.use(
    await startStack({ ...(await readStack(folder)), ...stackOptions(options, logged) }),
  );
  const running = started.move();
  const tableName = stack.output('TableName');
  const settings = {
    ...stack.settings,
    SYNC_QUEUE_URL: stack.output('QueueUrl'),
    SYNC_DEAD_LETTER_URL: stack.output('DeadLetterUrl'),
    SYNC_TABLE: tableName,
  };
  return {
    settings,
    async runJobs(ids) {
      await using _polling = await stack.poll();
      const ledger = createLedger({ table: createDynamoTable({ tableName, environment: settings }) });
      for (let waitedMs = 0; waitedMs < LONGEST_MS; waitedMs += LOOK_EVERY_MS) {
        const jobs = await Promise.all(ids.map((id) => ledger.read(id)));
        if (jobs.every((job) => job !== undefined && hasEnded(job)))
          // By then the queue says that their messages are gone, too.
          return sleep(OLDEST_COUNTS_MS, signal);
        await sleep(LOOK_EVERY_MS, signal);
      }
      throw new Error(
        `expected the jobs ${ids.join(', ')} to end within ${LONGEST_MS / 1000} s; the function wrote:\n${logged.slice(-LAST_LINES).join('\n')}`,
      );
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

const instanceOf = ({ platform: { tokenHeader }, rate }: TourAwsOptions) => ({
  name: 'tour',
  baseUrl: BASE_URL,
  tokenHeader,
  rate,
  logLevel: 'warn',
  allow: { types: jobTypes },
});

const stackOptions = ({ platform, store }: TourAwsOptions, logged: string[]) => ({
  texts: { [BASE_URL]: platform.url },
  secret: platform.token,
  overrides: {
    // The stack's bucket ends with the tour, but what the tour made should still be there to look at.
    SYNC_STORE: store,
    // Nothing runs executions of the local Lambda here: a snapshot's job takes it itself.
    SYNC_SNAPSHOT_FUNCTION: '',
  },
  writable: [store],
  onLog: (line: string) => void logged.push(line),
});
