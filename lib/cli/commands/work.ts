import { AwsError } from '../../base/aws/index.ts';
import { openQueue, watchDeadLetters } from '../../jobs/index.ts';
import { needed, readSettings } from '../../settings.ts';
import type { Run } from '../command.ts';
import { UsageError } from '../errors/usage-error.ts';
import { runJobsHere } from '../jobs/work-here.ts';
import { commandLine } from '../options/command-lines.ts';
import { counted, shown } from '../terminal/terminal.ts';

/** How long a received message is hidden from other workers, in seconds; it is extended while its job runs. */
const VISIBILITY_SECONDS = 60;

/**
 * Consumes the queue in this process, as the deployed worker would, until Ctrl-C or, with `--drain`, until
 * the queue is empty.
 */
export default (async (_, { concurrency, drain = false }, terminal) => {
  const { environment, signal, screen, polls, err } = terminal;
  const settings = readSettings(environment);
  const queueUrl = needed(settings, 'SYNC_QUEUE_URL');
  const jobs = await openQueue(queueUrl, environment);
  const { SYNC_DEAD_LETTER_URL: url } = settings;
  const dead = url === undefined ? undefined : { url, queue: await openQueue(url, environment, 'dead') };
  const { queue, arrived } = await watchDeadLetters({ jobs, dead }, (fault) =>
    err(shown(`platform-sync: SYNC_QUEUE_URL: ${fault}`)),
  );
  const isWatched = screen !== undefined;
  const { counts, back, tokenRefusal } = await runJobsHere(
    {
      name: 'work',
      settings,
      concurrency,
      of: queue,
      isEndless: !drain,
      endsWithToken: isWatched,
      work: (local) =>
        local
          .work({ queue, drain, isWatched, polls, visibilitySeconds: VISIBILITY_SECONDS })
          .catch(refuseMissingQueue),
    },
    terminal,
  );
  if (signal.aborted) err('stopped as requested; jobs that were not started are still on the queue');
  const { done, failed, unknown, refused } = counts;
  // `later`: how many messages were requeued on purpose; `failed`: how many because they could not be handled.
  const { later: handedBack, failed: notHandled } = back;
  if (tokenRefusal !== undefined) err(shown(tokenRefusal));
  const deadLetters = await arrived();
  const ended = failed + unknown + refused + deadLetters === 0 ? 'done' : 'incomplete';
  return {
    json: { ...counts, handedBack, notHandled, deadLetters },
    words: [
      `jobs: ${done} done, ${failed} failed, ${unknown} unknown, ${refused} refused; ${handedBack} requeued, ${notHandled} not handled`,
      ...(deadLetters === 0
        ? []
        : [`${counted(deadLetters, 'dead letter')}: ${commandLine(['redrive'])} returns them to the queue`]),
    ],
    ended: tokenRefusal === undefined ? ended : 'failed',
  };
}) satisfies Run<'work'>;

/** Throws `UsageError` if the queue does not exist. */
function refuseMissingQueue(error: unknown): never {
  const isMissing = error instanceof AwsError && error.failure.kind === 'missing';
  throw isMissing ? new UsageError(`SYNC_QUEUE_URL: ${error.message}`, { cause: error }) : error;
}
