import { openQueue } from '../../jobs/queue/open-queue.ts';
import type { Queue, QueueCounts } from '../../jobs/queue/queue.ts';
import { readSyncSettings } from '../../settings.ts';
import { shown, type Terminal } from '../terminal/terminal.ts';
import { number } from '../terminal/words.ts';

/** What is on the queues that are set, in a line for each; SQS counts roughly, and up to a minute late. */
export async function queueLines({ environment }: Pick<Terminal, 'environment'>): Promise<readonly string[]> {
  const { SYNC_QUEUE_URL: queue, SYNC_DEAD_LETTER_URL: dead } = readSyncSettings(environment);
  const opened = (place: string | undefined, name: 'jobs' | 'dead') =>
    place === undefined ? undefined : openQueue(place, environment, name);
  const lines = [
    lineOf('on the queue', () => opened(queue, 'jobs'), describeCounts),
    lineOf(
      'dead letters',
      () => opened(dead, 'dead'),
      ({ waiting, inFlight, delayed }) => about(waiting + inFlight + delayed),
    ),
  ];
  return (await Promise.all(lines)).filter((line) => line !== undefined);
}

async function lineOf(
  name: string,
  open: () => Promise<Queue> | undefined,
  describe: (counts: QueueCounts) => string,
): Promise<string | undefined> {
  try {
    const queue = await open();
    return queue && `${name}: ${describe(await queue.counts())}`;
  } catch (error) {
    return shown(`${name}: not known: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const describeCounts = ({ waiting, inFlight, delayed }: QueueCounts) =>
  waiting + inFlight + delayed === 0
    ? 'nothing'
    : `${about(waiting)} queued, ${number(inFlight)} in hand or put back for later, ${number(delayed)} sent with a delay`;
const about = (value: number) => (value === 0 ? '0' : `about ${number(value)}`);
