import type { CallCounts } from '../../platform/index.ts';
import type { SnapshotProgress } from '../../snapshot/run/take-slice.ts';
import { duration, number, type Terminal } from './terminal.ts';

/** Without a terminal, a line of progress is printed this often, in milliseconds. */
export const LINE_EVERY_MS = 30_000;

/** How often a terminal's line is drawn: rate and time left change by themselves. */
const DRAWN_EVERY_MS = 200;

export type ProgressOptions = Pick<Terminal, 'screen' | 'err'> & {
  readonly callCounts: () => CallCounts;
  /** Records that earlier processes took in the same run; they do not count towards the rate. Default 0. */
  readonly recordsBefore?: number;
  /** The words for what is received and for what is sent. Default: records, requests. */
  readonly nouns?: readonly [records: string, requests: string];
  /**
   * There is no end, and for days there may be nothing to do: neither a rate nor a time is shown, and without a terminal no
   * line twice. Default: false.
   */
  readonly isEndless?: boolean;
  /** Milliseconds on a clock that never goes back. */
  readonly now: () => number;
  /** Calls `act` so often until it is disposed of. Default: a timer that keeps no process alive. */
  readonly every?: (ms: number, act: () => void) => Disposable;
};

/** What is known of the progress, and what else is to be said of it, such as how many records failed. */
type Known = SnapshotProgress & { readonly also?: readonly string[] };

/**
 * Shows the progress of a command: as the last line of a terminal, otherwise in plain lines that suit a log, one each
 * half minute, so that a reader sees that it is alive even if nothing has been received since.
 */
export function createProgress(name: string, options: ProgressOptions) {
  const { screen, err, callCounts, now, recordsBefore = 0, isEndless = false, every = onTimer } = options;
  const nouns = options.nouns ?? ['records', 'requests'];
  const startedMs = now();
  let known: Known | undefined;
  let isPublishing = false;
  let printed = '';
  const line = () => {
    if (known === undefined) return screen === undefined ? `${name}: starting` : `${name}  starting`;
    if (isPublishing) return `${name}: ${number(known.records)} ${nouns[0]}; publishing`;
    const speed = isEndless ? {} : speedOf(known, recordsBefore, now() - startedMs);
    return lineOf(name, { ...known, ...callCounts(), ...speed, nouns }, screen?.columns());
  };
  const draw = () => {
    const text = line();
    if (screen !== undefined) screen.show(text);
    else if (!isEndless || text !== printed) err(text);
    printed = text;
  };
  const drawing = every(screen === undefined ? LINE_EVERY_MS : DRAWN_EVERY_MS, draw);
  screen?.show(line());
  return {
    update(progress: Known) {
      known = progress;
    },
    /** Everything has been read, and is published now. */
    publishing() {
      isPublishing = true;
      screen?.show(line());
    },
    /** Takes the line off the screen. */
    end() {
      drawing[Symbol.dispose]();
      screen?.show(undefined);
    },
  };
}

/** How fast it is, in records a second, how far, and the seconds left, as far as that is known. */
function speedOf({ records, total, share: given }: Known, before: number, elapsedMs: number) {
  const share = given ?? (total === null ? undefined : Math.min(1, total === 0 ? 1 : records / total));
  const seconds = Math.max(1, elapsedMs) / 1_000;
  // What earlier processes did took none of this one's time.
  const own = Math.max(0, records - before);
  const ownShare = share === undefined ? 0 : records === 0 ? share : (share * own) / records;
  const isKnown = share !== undefined && share < 1 && ownShare > 0;
  return {
    share,
    total: total ?? (share === undefined || records === 0 ? null : roundedUp(records / share)),
    rate: own / seconds,
    secondsLeft: isKnown ? ((1 - share) / ownShare) * seconds : undefined,
  };
}

/** An estimate to two digits: more of them would only flicker. */
function roundedUp(value: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(value)) - 1);
  return Math.ceil(value / unit) * unit;
}

type Far = Known &
  Pick<CallCounts, 'requests' | 'throttled'> &
  Partial<Pick<ReturnType<typeof speedOf>, 'rate' | 'secondsLeft'>> & {
    readonly nouns: NonNullable<ProgressOptions['nouns']>;
  };

/** A bar is no wider, and one that is narrower shows nothing. */
const WIDEST_BAR = 40;
const NARROWEST_BAR = 10;

const GAP = '  ';

/**
 * All that is known, for a log; or for a terminal with so many columns, of which the last stays empty: the more room, the
 * more it says; the percentage, the rate and the time left are always there.
 */
function lineOf(name: string, far: Far, columns: number | undefined): string {
  const { share } = far;
  // All of it only when it is: `100%` is said of nothing that goes on.
  const percent = share === undefined ? [] : [`${Math.min(99, Math.floor(share * 100))}%`];
  const [all, ...shorter] = wordsOf(far);
  if (columns === undefined) return `${name}: ${[...percent, ...all].join(', ')}`;
  const head = [name, ...percent].join(' ');
  const room = columns - 1 - head.length - GAP.length;
  const words = [all, ...shorter].map((each) => each.join(', '));
  const fitting = words.find((each) => each.length <= room);
  // The name is what people know already.
  if (fitting === undefined) return [...percent, words.at(-1)].join(GAP);
  const width = Math.min(WIDEST_BAR, room - fitting.length - 1);
  const bar = share === undefined || width < NARROWEST_BAR ? '' : ` ${drawn(share, width)}`;
  return `${head}${bar}${GAP}${fitting}`;
}

function drawn(share: number, columns: number): string {
  const full = Math.floor(share * columns);
  return '='.repeat(full) + '-'.repeat(columns - full);
}

/** What is said of it: all, less, and what there is always room for. */
function wordsOf({ records, total, share, also = [], requests, throttled, rate, secondsLeft, nouns }: Far) {
  const counted = `${number(records)}${total === null ? '' : ` of about ${number(total)}`} ${nouns[0]}`;
  // A slow rate to a tenth: it is what the time left is made of.
  const speed = rate === undefined ? [] : [number(rate < 10 ? Math.round(rate * 10) / 10 : Math.round(rate))];
  // What a division of floating-point numbers may add to a whole number is no second.
  const left = secondsLeft === undefined ? [] : [`${duration(Math.ceil(secondsLeft - 1e-6))} left`];
  const calls = [`${number(requests)} ${nouns[1]}`];
  const refused = throttled > 0 ? [`${number(throttled)} throttled`] : [];
  const perSecond = speed.map((each) => `${each} a second`);
  return [
    [counted, ...also, ...calls, ...perSecond, ...refused, ...left],
    [counted, ...also, ...perSecond, ...left],
    [...(share === undefined ? [number(records)] : []), ...speed.map((each) => `${each}/s`), ...left],
  ] as const;
}

export function onTimer(ms: number, act: () => void): Disposable {
  const timer = setInterval(act, ms).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
