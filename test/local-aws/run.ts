import { once } from 'node:events';
import { processTerminal } from '../../lib/cli/terminal/terminal.ts';
import type { SettingName } from '../../lib/contract.ts';
import { startAws } from './services/start-aws.ts';

/*
 * `npm run local-aws`: S3, SQS and DynamoDB on loopback until Ctrl-C; prints the settings that reach them, with
 * `--json` as one JSON value. `AWS_SEED` is the seed of occasional failures.
 */

const BUCKET = 'platform-sync-sandbox';
const QUEUE = 'platform-sync-jobs';
const DEAD_LETTER_QUEUE = 'platform-sync-dead-letters';
const TABLE = 'platform-sync';
/** Maximum receives of the jobs queue. The ledger counts attempts; receives only limit crashes. */
const MAX_RECEIVE_COUNT = 1_000;

const { environment, out, err, signal } = processTerminal();
await using aws = await startAws({
  seed: Number(environment['AWS_SEED'] ?? 1),
  buckets: [BUCKET],
  queues: [
    { name: QUEUE, deadLetter: { queue: DEAD_LETTER_QUEUE, maxReceiveCount: MAX_RECEIVE_COUNT } },
    { name: DEAD_LETTER_QUEUE },
  ],
  tables: [TABLE],
});
const settings = {
  SYNC_STORE: `s3://${BUCKET}`,
  SYNC_TABLE: TABLE,
  SYNC_QUEUE_URL: aws.queueUrl(QUEUE),
  SYNC_DEAD_LETTER_URL: aws.queueUrl(DEAD_LETTER_QUEUE),
  ...aws.settings,
} satisfies Partial<Record<SettingName, string>>;
if (process.argv.includes('--json')) out(JSON.stringify(settings, undefined, 2));
else for (const [name, value] of Object.entries(settings)) out(`export ${name}=${value}`);
err('Running until Ctrl-C.');
if (!signal.aborted) await once(signal, 'abort');
