import { once } from 'node:events';
import type { SettingName } from '../../contract.ts';
import type { AddCommand } from '../command.ts';
import { numberOption } from '../options.ts';
import { requireSandboxPackages } from '../sandbox-packages.ts';
import { exitCodes, type Terminal } from '../terminal.ts';

type SandboxFlags = {
  readonly seed?: number;
  readonly calculations?: number;
  readonly latency?: number;
  readonly rate?: number;
  readonly faults?: number;
  readonly churn?: number;
  readonly json?: true;
};

/** `sandbox`: the reference platform and the local S3, SQS and DynamoDB, until Ctrl-C. */
export const addSandbox: AddCommand = (program, terminal, finish) => {
  program
    .command('sandbox')
    .description(
      'Start the reference platform and local S3, SQS and DynamoDB on loopback, and print the settings that reach them.',
    )
    .option(
      '--seed <n>',
      'the seed of its records, and of what fails in the local AWS (default: 1)',
      numberOption(0, 4_294_967_295),
    )
    .option(
      '--calculations <n>',
      'how many calculations it has (default: 20000)',
      numberOption(0, 10_000_000),
    )
    .option(
      '--latency <ms>',
      'milliseconds to delay every response by (default: 0)',
      numberOption(0, 600_000),
    )
    .option(
      '--rate <n>',
      'requests a second that it accepts; it responds to any more with 429 (default: no limit)',
      numberOption(0.01, 100_000, { whole: false }),
    )
    .option(
      '--faults <p>',
      'the share of requests that fail in some way, from 0 to 1 (default: 0)',
      numberOption(0, 1, { whole: false }),
    )
    .option(
      '--churn <n>',
      'records added, changed or deleted per second (default: 0)',
      numberOption(0, 10_000, { whole: false }),
    )
    .option('--json', 'print the settings as one JSON value')
    .action(async (flags: SandboxFlags) => {
      await serve(flags, terminal);
      finish(exitCodes.done);
    });
};

const BUCKET = 'platform-sync-sandbox';
const QUEUE = 'platform-sync-jobs';
const DEAD_LETTER_QUEUE = 'platform-sync-dead-letters';
const TABLE = 'platform-sync';
/** For the jobs queue. The ledger counts attempts; receives only limit crashes. */
const MAX_RECEIVE_COUNT = 1_000;

async function serve(
  { latency, json, ...options }: SandboxFlags,
  { out, err, signal }: Terminal,
): Promise<void> {
  requireSandboxPackages();
  // Loaded here: no other command needs the servers.
  const { startPlatform } = await import('../../sandbox/platform/start-platform.ts');
  const { startAws } = await import('../../sandbox/aws/services/start-aws.ts');
  await using platform = await startPlatform({
    ...options,
    ...(latency === undefined ? {} : { latencyMs: latency }),
  });
  await using aws = await startAws({
    ...(options.seed === undefined ? {} : { seed: options.seed }),
    buckets: [BUCKET],
    queues: [
      {
        name: QUEUE,
        deadLetter: { queue: DEAD_LETTER_QUEUE, maxReceiveCount: MAX_RECEIVE_COUNT },
      },
      { name: DEAD_LETTER_QUEUE },
    ],
    tables: [TABLE],
  });
  const settings = {
    PLATFORM_BASE_URL: platform.url,
    PLATFORM_TOKEN: platform.token,
    SYNC_STORE: `s3://${BUCKET}`,
    SYNC_TABLE: TABLE,
    SYNC_QUEUE_URL: aws.queueUrl(QUEUE),
    SYNC_DEAD_LETTER_URL: aws.queueUrl(DEAD_LETTER_QUEUE),
    ...aws.settings,
  } satisfies Partial<Record<SettingName, string>>;
  if (json) out(JSON.stringify(settings, undefined, 2));
  else for (const [name, value] of Object.entries(settings)) out(`export ${name}=${value}`);
  err(`Running until Ctrl-C. Its OpenAPI document: ${platform.url}/openapi.json`);
  if (!signal.aborted) await once(signal, 'abort');
}
