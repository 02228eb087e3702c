import type { CallCounts } from '../../platform/index.ts';
import type { SnapshotProgress } from '../../snapshot/run/take-slice.ts';
import { type Far, progressLine, screenLine } from './progress-line.ts';
import type { Screen } from './screen.ts';

/** Without a terminal, a line of progress is printed this often, in milliseconds. */
const LINE_EVERY_MS = 30_000;

/** How often a terminal's line is drawn: rate and time left change by themselves. */
const DRAWN_EVERY_MS = 200;

export type ProgressOptions = {
  /** Where the line is drawn; undefined for plain lines. */
  readonly screen: Screen | undefined;
  readonly err: (text: string) => void;
  readonly callCounts: () => CallCounts;
  /** Records that earlier processes took in the same run; they do not count towards the rate. Default 0. */
  readonly recordsBefore?: number;
  /** What is counted. Default: records, requests. */
  readonly nouns?: Far['nouns'];
  /** Milliseconds on a clock that never goes back. */
  readonly now: () => number;
  /** Calls `act` so often until it is disposed of. Default: a timer that keeps no process alive. */
  readonly every?: (ms: number, act: () => void) => Disposable;
};

export type Progress = {
  readonly update: (progress: SnapshotProgress & Pick<Far, 'also'>) => void;
  /** Everything has been read, and is published now. */
  readonly publishing: () => void;
  /** Takes the line off the screen. */
  readonly end: () => void;
};

/**
 * Shows the progress of a command: as the last line of a terminal, otherwise in plain lines that suit a log, one each
 * half minute, so that a reader sees that it is alive even if nothing has been received since.
 */
export function createProgress(name: string, options: ProgressOptions): Progress {
  const { screen, err, callCounts, now, recordsBefore = 0, every = onTimer } = options;
  const nouns = options.nouns ?? ['records', 'requests'];
  const startedMs = now();
  let known: Parameters<Progress['update']>[0] | undefined;
  let isPublishing = false;
  const line = () => {
    if (known === undefined) return screen === undefined ? `${name}: starting` : `${name}  starting`;
    if (isPublishing) return `${name}: ${known.records.toLocaleString('en')} ${nouns[0]}; publishing`;
    const { also } = known;
    const far = { name, nouns, also, ...callCounts(), ...farBy(known, recordsBefore, now() - startedMs) };
    return screen === undefined ? progressLine(far) : screenLine(far, screen.columns());
  };
  const draw = () => (screen === undefined ? err(line()) : screen.show(line()));
  const drawing = every(screen === undefined ? LINE_EVERY_MS : DRAWN_EVERY_MS, draw);
  screen?.show(line());
  return {
    update(progress) {
      known = progress;
    },
    publishing() {
      isPublishing = true;
      screen?.show(line());
    },
    end() {
      drawing[Symbol.dispose]();
      screen?.show(undefined);
    },
  };
}

/** What the numbers say of the time. What earlier processes did took none of this one's. */
function farBy({ records, total, share: given }: SnapshotProgress, before: number, elapsedMs: number) {
  const share = given ?? (total === null ? undefined : Math.min(1, total === 0 ? 1 : records / total));
  const seconds = Math.max(1, elapsedMs) / 1_000;
  const own = Math.max(0, records - before);
  const ownShare = share === undefined ? 0 : records === 0 ? share : (share * own) / records;
  const isKnown = share !== undefined && share < 1 && ownShare > 0;
  return {
    records,
    share,
    total: total ?? (share === undefined || records === 0 ? undefined : roundedUp(records / share)),
    rate: own / seconds,
    secondsLeft: isKnown ? ((1 - share) / ownShare) * seconds : undefined,
  };
}

/** An estimate to two digits: more of them would only flicker. */
function roundedUp(value: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(value)) - 1);
  return Math.ceil(value / unit) * unit;
}

function onTimer(ms: number, act: () => void): Disposable {
  const timer = setInterval(act, ms).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
