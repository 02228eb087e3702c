import { shortened } from '../../base/index.ts';
import type { EndedJob } from '../../jobs/handle-message.ts';
import type { QueueCounts } from '../../jobs/queue/queue.ts';
import { clockTime } from '../terminal/log-lines.ts';
import { shown, type Terminal } from '../terminal/terminal.ts';

export type WorkViewOptions = Pick<Terminal, 'screen' | 'err'> & {
  /** Undefined if the queue does not report them. */
  readonly counts: () => Promise<QueueCounts | undefined>;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Calls `act` so often until it is disposed of. Default: a timer. */
  readonly every?: (ms: number, act: () => void) => Disposable;
};

/** How often the queue is asked for its counts: for somebody who watches, and for a log. */
const WATCHED_EVERY_MS = 3_000;
const LINE_EVERY_MS = 30_000;

/** More of an id would hide what follows it. */
const LONGEST_ID = 60;

/**
 * Shows what a worker does, and counts it. On a terminal: a line for each job that ends, and a last line with all
 * counts. Elsewhere: a line of counts each half minute, unless nothing has changed, since a worker may have nothing to do
 * for days. The same job may be reported twice.
 */
export function createWorkView({ screen, err, counts, now, every = onTimer }: WorkViewOptions) {
  const ended = new Map<string, EndedJob['status']>();
  const refused = new Set<string>();
  let reported = '';
  let known: Known | undefined;
  const draw = () => screen?.show(watchedLine(endsIn(ended), known, screen.columns()));
  const look = async () => {
    const now = await counts();
    known = now && { ...now, total: allOf(endsIn(ended)) + now.waiting + now.inFlight + now.delayed };
    if (screen !== undefined) return draw();
    const line = `work: ${progressWords(endsIn(ended), known)}`;
    if (line !== reported) err(line);
    reported = line;
  };
  const looking = every(screen === undefined ? LINE_EVERY_MS : WATCHED_EVERY_MS, () => void look());
  draw();
  return {
    onEnded(job: EndedJob) {
      const isNew = ended.get(job.id) !== job.status;
      ended.set(job.id, job.status);
      if (screen === undefined || !isNew) return;
      err(shown(`${clockTime(now())} ${lineOf(job)}`));
      draw();
    },
    onRefused: (messageId: string) => void refused.add(messageId),
    counts: () => ({ ...endsIn(ended), refused: refused.size }),
    [Symbol.dispose]() {
      looking[Symbol.dispose]();
      screen?.show(undefined);
    },
  };
}

const lineOf = ({ id, type, status, tookMs, error }: EndedJob): string =>
  [
    `${status}: ${type} ${shortened(id, LONGEST_ID)}`,
    ...(tookMs === undefined ? [] : [`, ${(tookMs / 1_000).toFixed(1)} s`]),
    ...(error === undefined ? [] : [`: ${error.message}`]),
  ].join('');

type Ends = ReturnType<typeof endsIn>;

/** What the queue counts, and with that all jobs: what has ended since is among them. */
type Known = QueueCounts & { readonly total: number };

function endsIn(ended: ReadonlyMap<string, EndedJob['status']>) {
  const ends = { done: 0, failed: 0, unknown: 0 };
  for (const status of ended.values()) ends[status] += 1;
  return ends;
}

export const wordsOfEnds = ({ done, failed, unknown }: Ends): string =>
  `${done} done, ${failed} failed, ${unknown} unknown`;

function progressWords(ends: Ends, counts: Known | undefined): string {
  if (counts === undefined) return `${wordsOfEnds(ends)}; the queue does not report its counts`;
  const { waiting, inFlight, delayed } = counts;
  return `${wordsOfEnds(ends)} of about ${totalOf(ends, counts)}; ${waiting} waiting, ${inFlight} in flight, ${delayed} delayed`;
}

/** The most that fits. */
function watchedLine(ends: Ends, counts: Known | undefined, columns: number): string {
  const all = allOf(ends);
  const words = [
    ...(counts === undefined ? [wordsOfEnds(ends)] : [progressWords(ends, counts)]),
    `${all}${counts === undefined ? '' : ` of about ${totalOf(ends, counts)}`} ended, ${all - ends.done} not done`,
  ];
  return `work  ${words.find((each) => each.length + 'work  '.length < columns) ?? words.at(-1)}`;
}

const allOf = ({ done, failed, unknown }: Ends): number => done + failed + unknown;

/** The counts of a queue are late: more may have ended than it knew of. */
const totalOf = (ends: Ends, { total }: Known): number => Math.max(total, allOf(ends));

function onTimer(ms: number, act: () => void): Disposable {
  const timer = setInterval(act, ms);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
