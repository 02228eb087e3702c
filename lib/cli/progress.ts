import { SingleBar } from 'cli-progress';
import type { CallCounts } from '../platform/events.ts';
import type { SnapshotProgress } from '../snapshot/run/take-slice.ts';

/** Without a terminal, a line of progress is printed at most this often, in milliseconds. */
const LINE_EVERY_MS = 3_000;

export type ProgressOptions = {
  /** The terminal to draw a bar on; undefined for plain lines. */
  readonly screen: NodeJS.WriteStream | undefined;
  readonly err: (text: string) => void;
  readonly callCounts: () => CallCounts;
  /** Records that earlier processes took in the same run; they do not count towards the rate. Default 0. */
  readonly recordsBefore?: number;
  /** What is counted. Default: records, requests. */
  readonly nouns?: Nouns;
  /** Milliseconds on a clock that never goes back. */
  readonly now: () => number;
};

/** The words for what is received and for what is sent. */
type Nouns = readonly [records: string, requests: string];

export type Progress = {
  readonly update: (progress: SnapshotProgress) => void;
  /** Takes the bar off the screen. */
  readonly end: () => void;
};

/** Shows the progress of a snapshot: as a bar on a terminal, otherwise in plain lines that suit a log. */
export function createProgress(source: string, options: ProgressOptions): Progress {
  return options.screen === undefined ? plainLines(source, options) : bar(source, options.screen, options);
}

function plainLines(
  source: string,
  { err, callCounts, now, recordsBefore = 0, nouns }: ProgressOptions,
): Progress {
  const startedMs = now();
  let nextMs = startedMs + LINE_EVERY_MS;
  return {
    update(progress) {
      const nowMs = now();
      if (nowMs < nextMs) return;
      nextMs = nowMs + LINE_EVERY_MS;
      const pace = { elapsedMs: nowMs - startedMs, recordsBefore, nouns };
      err(`${source}: ${describeProgress(progress, callCounts(), pace)}`);
    },
    end: () => undefined,
  };
}

function bar(
  source: string,
  screen: NodeJS.WriteStream,
  { callCounts, now, recordsBefore = 0, nouns }: ProgressOptions,
): Progress {
  const startedMs = now();
  const drawn = new SingleBar({
    stream: screen,
    format: `${source} {bar} {percentage}% | {words}`,
    clearOnComplete: true,
    hideCursor: true,
    gracefulExit: false,
  });
  drawn.start(1, 0, { words: 'starting' });
  return {
    update(progress) {
      drawn.setTotal(Math.max(progress.total ?? 0, progress.records, 1));
      const pace = { elapsedMs: now() - startedMs, recordsBefore, nouns };
      drawn.update(progress.records, { words: describeProgress(progress, callCounts(), pace) });
    },
    end: () => drawn.stop(),
  };
}

export type PaceOfProgress = {
  readonly elapsedMs: number;
  readonly recordsBefore: number;
  readonly nouns?: Nouns | undefined;
};

/** Records, requests, rate, throttling and the time left, in one line. */
export function describeProgress(
  { records, total }: SnapshotProgress,
  counts: CallCounts,
  { elapsedMs, recordsBefore, nouns = ['records', 'requests'] }: PaceOfProgress,
): string {
  const perSecond = (Math.max(0, records - recordsBefore) * 1000) / Math.max(1, elapsedMs);
  const left =
    total === null || total <= records ? undefined : (total - records) / Math.max(perSecond, 0.001);
  return [
    `${number(records)}${total === null ? '' : ` of about ${number(total)}`} ${nouns[0]}`,
    `${number(counts.requests)} ${nouns[1]}`,
    `${number(Math.round(perSecond))} a second`,
    ...(counts.throttled === 0 ? [] : [`${number(counts.throttled)} throttled`]),
    ...(left === undefined ? [] : [`${duration(left)} left`]),
  ].join(', ');
}

const number = (value: number) => value.toLocaleString('en');

function duration(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  return seconds < 3600 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
