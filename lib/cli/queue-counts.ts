import type { QueueCounts } from '../jobs/queue/queue.ts';
import { readSyncSettings } from '../settings.ts';
import { shown, type Terminal } from './terminal.ts';

/** What is on the queues that are set, in a line for each; SQS counts roughly, and up to a minute late. */
export async function queueLines({ environment }: Pick<Terminal, 'environment'>): Promise<readonly string[]> {
  const { SYNC_QUEUE_URL: queue, SYNC_DEAD_LETTER_URL: dead } = readSyncSettings(environment);
  const lines = [
    lineOf('on the queue', queue, environment, describeCounts),
    lineOf('dead letters', dead, environment, ({ waiting, inFlight, delayed }) =>
      about(waiting + inFlight + delayed),
    ),
  ];
  return (await Promise.all(lines)).filter((line) => line !== undefined);
}

async function lineOf(
  name: string,
  url: string | undefined,
  environment: Terminal['environment'],
  describe: (counts: QueueCounts) => string,
): Promise<string | undefined> {
  if (url === undefined) return undefined;
  const { openQueue } = await import('./open-jobs.ts');
  try {
    return `${name}: ${describe(await (await openQueue(url, environment)).counts())}`;
  } catch (error) {
    return shown(`${name}: not known: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const describeCounts = ({ waiting, inFlight, delayed }: QueueCounts) =>
  waiting + inFlight + delayed === 0
    ? 'nothing'
    : `${about(waiting)} queued, ${number(inFlight)} in hand or put back for later, ${number(delayed)} sent with a delay`;

const number = (value: number) => value.toLocaleString('en');
const about = (value: number) => (value === 0 ? '0' : `about ${number(value)}`);
