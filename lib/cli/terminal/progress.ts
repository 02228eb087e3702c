import type { CallCounts } from '../../platform/index.ts';
import type { SnapshotProgress } from '../../snapshot/sources/index.ts';
import { duration, number, type Terminal } from './terminal.ts';

/** Time between two lines of progress without a terminal, in milliseconds. */
export const LINE_EVERY_MS = 30_000;

/** Time between two updates of the line at a terminal, in milliseconds. */
const DRAWN_EVERY_MS = 200;

/** The state of the progress, and remarks, such as how many records failed. */
type ProgressState = SnapshotProgress & { readonly also?: readonly string[] };

/**
 * Shows the progress of a command: at a terminal in its last line, otherwise as a new line every half minute, so that a
 * log shows that the command is still running.
 */
export function createProgress(
  name: string,
  options: Pick<Terminal, 'screen' | 'err'> & {
    readonly callCounts: () => CallCounts;
    /** How many records earlier processes copied in the same run; they do not count towards the rate. Default: 0. */
    readonly recordsBefore?: number;
    /** The nouns for what is received and for what is sent. Default: records, requests. */
    readonly nouns?: readonly [records: string, requests: string];
    /**
     * Whether the work has no end, and may be idle for days. If so, neither a rate nor a time is shown, and without a
     * terminal no line is repeated. Default: false.
     */
    readonly isEndless?: boolean;
    /** A clock that never goes back, in milliseconds. Default: `performance.now()`. */
    readonly now?: () => number;
    /** Calls `act` at this interval until it is disposed of. Default: a timer that does not keep the process alive. */
    readonly every?: (ms: number, act: () => void) => Disposable;
  },
) {
  const { screen, err, callCounts, recordsBefore = 0, isEndless = false } = options;
  const { now = () => performance.now(), every = onTimer } = options;
  const [records, requests] = options.nouns ?? ['records', 'requests'];
  const startedMs = now();
  let words = (): readonly string[] => ['starting'];
  let printed = '';
  const draw = () => {
    const line = lineOf(name, words(), screen?.columns());
    if (screen !== undefined) screen.show(line);
    else if (!isEndless || line !== printed) err(line);
    printed = line;
  };
  const drawing = every(screen === undefined ? LINE_EVERY_MS : DRAWN_EVERY_MS, draw);
  if (screen !== undefined) draw();
  return {
    update(known: ProgressState) {
      const total = known.total === null ? '' : ` of about ${number(known.total)}`;
      words = () => {
        const calls = callCounts();
        return [
          ...(isEndless ? [] : speedWords(known, recordsBefore, (now() - startedMs) / 1_000)),
          `${number(known.records)}${total} ${records}`,
          ...(known.also ?? []),
          `${number(calls.requests)} ${requests}`,
          ...(calls.throttled > 0 ? [`${number(calls.throttled)} throttled`] : []),
        ];
      };
    },
    /** Shows that everything has been read and is being published. */
    publishing() {
      words = () => ['publishing'];
      if (screen !== undefined) draw();
    },
    /** Removes the line from the screen. */
    end() {
      drawing[Symbol.dispose]();
      screen?.show(undefined);
    },
  };
}

/**
 * The line. The most important words come first; at a terminal, words that do not fit before the last column are
 * cut.
 */
function lineOf(name: string, words: readonly string[], columns = Number.POSITIVE_INFINITY): string {
  const lastFitting = words.findLastIndex(
    (_, at) => `${name}: ${words.slice(0, at + 1).join(', ')}`.length < columns,
  );
  return `${name}: ${words.slice(0, Math.max(0, lastFitting) + 1).join(', ')}`;
}

/** The percentage and the time left, as far as they are known, and the rate: `49%`, `11 s left`, `148 a second`. */
function speedWords(
  { records, total, share }: ProgressState,
  before: number,
  elapsed: number,
): readonly string[] {
  const done = share ?? (total === null ? undefined : Math.min(1, total === 0 ? 1 : records / total));
  const seconds = Math.max(0.001, elapsed);
  // Records of earlier processes do not count for the rate of this process.
  const recordsHere = Math.max(0, records - before);
  const doneHere = done === undefined ? 0 : records === 0 ? done : (done * recordsHere) / records;
  // The rounding error of a division must not add a second.
  const left = done === undefined ? 0 : Math.ceil(((1 - done) / doneHere) * seconds - 1e-6);
  const rate = recordsHere / seconds;
  return [
    // `100%` is shown only at the end.
    ...(done === undefined ? [] : [`${Math.min(99, Math.floor(done * 100))}%`]),
    ...(left > 0 && Number.isFinite(left) ? [`${duration(left)} left`] : []),
    // A slow rate has one decimal, since the time left is computed from it.
    `${number(rate < 10 ? Math.round(rate * 10) / 10 : Math.round(rate))} a second`,
  ];
}

/** Calls `act` every `ms` milliseconds until it is disposed of. The timer does not keep the process alive. */
export function onTimer(ms: number, act: () => void): Disposable {
  const timer = setInterval(act, ms).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
