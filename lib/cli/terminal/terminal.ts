import { once } from 'node:events';
import { fstatSync, writeFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { isatty } from 'node:tty';
import { systemReason } from '../../base/aws/index.ts';
import { shortened, shownText } from '../../base/index.ts';
import { printJson } from '../../base/json/index.ts';
import type { Queue } from '../../jobs/index.ts';
import type { TrackSent } from '../../platform/index.ts';
import type { Environment } from '../../settings.ts';
import type { openStore } from '../../store/index.ts';
import type { OddRows } from '../../text/index.ts';

/**
 * A second signal within this time, in milliseconds, is the same Ctrl-C: npm forwards a Ctrl-C that the terminal has
 * already sent to this process.
 */
const REPEAT_MS = 250;

/** A stop that takes longer than this, in milliseconds, is announced, even if it is unknown what it waits for. */
const SILENT_STOP_MS = 1_000;

/**
 * The terminal of this process. The first Ctrl-C asks the command to stop, and prints what the stop waits for. The
 * second Ctrl-C prints what is lost, and ends the process immediately. A closed or full output also asks the
 * command to stop.
 */
export function processTerminal(): Terminal {
  const stop = new AbortController();
  const pending = createPendingWork();
  let fault: OutputFault | undefined;
  const err = createOutput(process.stderr, (found) => {
    // A log that cannot be written, for example on a full disk, does not stop the command.
    if (found.kind === 'closed') stop.abort(new OutputError(found));
  });
  const out = createOutput(process.stdout, (found) => {
    fault = found;
    if (found.kind === 'lost')
      say(
        `platform-sync: standard output cannot be written: ${found.reason}; what was printed is incomplete`,
      );
    stop.abort(new OutputError(found));
  });
  const { screen, say } = createScreen(process.stderr, err);
  stopOnSignals(stop, say, pending);
  return {
    environment: process.env,
    out: (line) => out(`${line}\n`),
    err: say,
    screen: process.stderr.isTTY ? screen : undefined,
    readInput: () => readInput(stop.signal),
    signal: stop.signal,
    width: process.stdout.isTTY ? process.stdout.columns : undefined,
    drained: async () => {
      await untilDrained(process.stdout, stop.signal);
      return fault === undefined;
    },
    dialog:
      process.stdin.isTTY && process.stdout.isTTY
        ? { input: process.stdin, output: process.stdout }
        : undefined,
    pipes: { input: process.stdin, output: process.stdout },
    outputFault: () => fault,
    trackPending: pending.track,
    trackSent({ operation, timeoutMs }) {
      const left = PENDING_CALLS[operation];
      const untilMs = performance.now() + timeoutMs;
      return left === undefined ? { [Symbol.dispose]: () => undefined } : pending.track({ ...left, untilMs });
    },
  };
}

/** Resolves when the stream has room for more output, or has ended. */
async function untilDrained(stream: NodeJS.WriteStream, stop: AbortSignal): Promise<void> {
  // Wait until the error of the last write has arrived.
  await setImmediate();
  if (!stream.writableNeedDrain || stop.aborted) return;
  // A closed stream reports an error, which stops the command.
  await once(stream, 'drain', { signal: stop }).catch(() => undefined);
}

function stopOnSignals(
  stop: AbortController,
  say: (line: string) => void,
  { waitedFor, lost }: Pick<ReturnType<typeof createPendingWork>, 'waitedFor' | 'lost'>,
): void {
  let stoppedMs: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    // The listener stays until the second signal, since some libraries end the process if they find no other listener.
    const onSignal = () => {
      const nowMs = performance.now();
      if (stoppedMs === undefined) {
        stoppedMs = nowMs;
        // The timer keeps the process alive until npm's repeated signal has arrived: an exiting process cannot
        // catch it.
        setTimeout(() => undefined, REPEAT_MS);
        stop.abort(new Error(`stopped by ${signal}`));
        sayWhy(say, waitedFor);
        return;
      }
      // The shell and the kernel both report that a terminal was closed, so a second SIGHUP is not a second request.
      if (signal === 'SIGHUP' || nowMs - stoppedMs < REPEAT_MS) return;
      const words = lost();
      say(words === undefined ? 'ended immediately; nothing is lost' : `ended immediately; lost: ${words}`);
      process.off(signal, onSignal);
      process.kill(process.pid, signal);
    };
    process.on(signal, onSignal);
  }
}

/** Prints what a stop waits for: immediately if it is known, otherwise after `SILENT_STOP_MS`. */
function sayWhy(
  say: (line: string) => void,
  waitedFor: ReturnType<typeof createPendingWork>['waitedFor'],
): void {
  const words = waitedFor();
  if (words !== undefined) say(`stopping: waiting for ${words}; Ctrl-C again ends immediately`);
  else
    setTimeout(
      () => say('stopping: finishing the work in progress; Ctrl-C again ends immediately'),
      SILENT_STOP_MS,
    ).unref();
}

/** Reads all of standard input. A stop ends it, since input from a terminal may never end. */
async function readInput(signal: AbortSignal): Promise<Uint8Array> {
  const end = () => process.stdin.destroy();
  signal.addEventListener('abort', end, { once: true });
  try {
    return await buffer(process.stdin);
  } finally {
    signal.removeEventListener('abort', end);
  }
}

/** Tracks what a stop waits for, and what ending immediately would lose. */
function createPendingWork() {
  const held = new Set<PendingWork>();
  const listed = (of: 'what' | 'lost') => {
    const groups = Map.groupBy(held, (each) => each[of]);
    return [...groups].flatMap(([words, { length }]) => words?.replace('#', `${length}`) ?? []);
  };
  return {
    track(awaited: PendingWork): Disposable {
      // The copy lets the same object be registered twice.
      const one = { ...awaited };
      held.add(one);
      return { [Symbol.dispose]: () => void held.delete(one) };
    },
    /** What a stop waits for: `2 paid response(s), at most 50 s`; undefined if it waits for nothing. */
    waitedFor() {
      const untilMs = Math.max(...[...held].map((each) => each.untilMs ?? 0));
      const seconds = Math.max(1, Math.ceil((untilMs - performance.now()) / 1_000));
      return listed('what').length === 0
        ? undefined
        : `${listed('what').join(' and ')}, at most ${seconds} s`;
    },
    /** What is lost if the process ends immediately; undefined if nothing is lost. */
    lost: () => (held.size === 0 ? undefined : listed('lost').join('; ')),
  };
}

/** By operation: what a stop waits for, and what would be lost otherwise. Other operations can safely be sent again. */
const PENDING_CALLS: Readonly<Record<string, PendingWork>> = {
  analyzeSentiment: {
    what: '# paid response(s)',
    lost: '# paid response(s); their texts are paid for again when they are scored',
  },
  runFunction: {
    what: '# response(s) of functions',
    lost: '# response(s) of functions, which may have run: check what they change before you run them again',
  },
  updateFormula: {
    what: '# response(s) to updates of formulas',
    lost: '# response(s) to updates of formulas, which may have been set: check the calculations',
  },
};

/** The streams to and from a user at the keyboard. */
export type Dialog = { readonly input: Readable; readonly output: Writable };

/** Work that a stop waits for, or that ending immediately would lose. */
type PendingWork = {
  /** What a stop waits for, with `#` for the number: `# paid response(s)`. Absent: the stop does not wait for it. */
  readonly what?: string;
  /** When the waiting ends at the latest, by `performance.now()`. */
  readonly untilMs?: number;
  /** What is lost if the process ends immediately, in words that follow `lost: `. */
  readonly lost: string;
};

/** The parts of the process that a command may use: environment, output, input and signals. */
export type Terminal = {
  readonly environment: Environment;
  /** Prints results. With `--json`, exactly one JSON value. */
  readonly out: (text: string) => void;
  /** Prints progress, hints and faults. */
  readonly err: (text: string) => void;
  /** Prints a log line in words; the argument is the line as JSON. Absent: log lines go to `err` as JSON. */
  readonly log?: ((line: string) => void) | undefined;
  /** The line that shows the progress; undefined without a terminal. */
  readonly screen: Screen | undefined;
  /** Reads all of standard input. */
  readonly readInput: () => Promise<Uint8Array>;
  /** Aborted by Ctrl-C, SIGTERM, SIGHUP (the terminal was closed), and when the output is closed or full. */
  readonly signal: AbortSignal;
  /** The width of standard output in characters; undefined if it is not a terminal. */
  readonly width?: number | undefined;
  /** Resolves when the output can take more results; to false if its reader has ended, as `| head` does. */
  readonly drained?: () => Promise<boolean>;
  /** Where the user answers questions; undefined without a terminal. */
  readonly dialog?: Dialog | undefined;
  /** The raw standard input and output, for a protocol; absent if the terminal has neither. */
  readonly pipes?: Dialog | undefined;
  /** Why some results could not be written; undefined if all were written. Absent: writing never fails. */
  readonly outputFault?: () => OutputFault | undefined;
  /** Registers work that a stop waits for, or that ending immediately would lose. Absent: nothing is registered. */
  readonly trackPending?: (pending: PendingWork) => Disposable;
  /** Registers a call that was sent, so that a stop waits for its response. Absent: nothing is registered. */
  readonly trackSent?: TrackSent;
  /** How queues are polled. Default: by long polls. */
  readonly polls?: Queue['polls'];
  /** Opens the store for commands that do not need the platform. Default: opens the store in `SYNC_STORE`. */
  readonly openStore?: typeof openStore;
};

/** Creates a function that warns that a step failed, while the command as a whole succeeds. */
export const warnOn =
  ({ err }: Pick<Terminal, 'err'>) =>
  (what: string, reason: Error): void =>
    err(shownLines(`warning: ${what}: ${reason.message}`));

/** The ways in which a command can end, and their exit codes. */
export const exitCodes = {
  done: 0,
  failed: 1,
  /** Wrong usage or settings. */
  usage: 2,
  /** Finished, but something is incomplete or was refused publication. */
  incomplete: 3,
  /** Stopped by Ctrl-C, with no run that can be resumed. */
  stopped: 130,
} as const;

/** How a command ended; it decides the exit code. */
export type ExitStatus = keyof typeof exitCodes;

/** Maximum characters of one line of untrusted text. */
const MAX_LINE_LENGTH = 20_000;

/** Makes one line of untrusted text safe to print: shortened, without terminal control characters. */
export const shown = (text: string): string => shownText(text, MAX_LINE_LENGTH);

/** Makes several lines of untrusted text safe to print; line breaks stay. */
export const shownLines = (text: string): string => text.split('\n').map(shown).join('\n');

/** A number for people: `20,000`. */
export const number = (value: number): string => value.toLocaleString('en');

/** A number with its noun: `1 row`, `20,000 rows`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${number(count)} ${count === 1 ? one : many}`;

/** The lines about rows of a CSV that have fewer fields than its header, or none. */
export const oddLines = ({ blank, short }: OddRows): readonly string[] => [
  ...(blank > 0 ? [`${counted(blank, 'blank line')} skipped`] : []),
  ...(short > 0 ? [`${counted(short, 'row')} without the last fields, which are empty`] : []),
];

/** The line `and 12 more rows`; empty if `left` is 0. */
export const andMore = (left: number, what = ''): readonly string[] =>
  left > 0 ? [`and ${number(left)} more${what}`] : [];

/** The first `max` lines, indented, and a line `and N more` if there are more. */
export const firstOf = (lines: readonly string[], max: number): readonly string[] =>
  [...lines.slice(0, max), ...andMore(lines.length - max)].map((line) => `  ${line}`);

/** The line about rows that `--limit` leaves out; empty if `left` is 0. */
export const notListed = (left: number, noun: string): readonly string[] =>
  left > 0 ? [`${left} earlier ${left === 1 ? noun : `${noun}s`} not listed; use --limit to list more`] : [];

/** A size for people: `4.0 kB`, `2.1 MB`. */
export const size = (bytes: number): string =>
  bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;

/** A duration for people, rounded up: `90 s`, `12 min`, `3.5 h`, `5 days`. */
export function duration(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.ceil(seconds / 60)} min`;
  return seconds < 172_800 ? `${(seconds / 3_600).toFixed(1)} h` : `${Math.ceil(seconds / 86_400)} days`;
}

/** What a command prints: one value for `--json`, and words for people. `ended`: done by default. */
export type CommandResult = {
  readonly json: unknown;
  /** A string is printed with its line breaks. Each entry of a list is printed as one line, without line breaks. */
  readonly words: string | readonly string[];
  readonly ended?: ExitStatus;
};

/** Prints the result of a command, and returns how the command ended. */
export function printCommandResult(
  { json, words, ended = 'done' }: CommandResult,
  isJson: true | undefined,
  { out }: Pick<Terminal, 'out'>,
): ExitStatus {
  if (isJson) out(printJson(json, 2));
  else if (typeof words === 'string') out(shownLines(words));
  else if (words.length > 0) out(words.map(shown).join('\n'));
  return ended;
}

/** Maximum characters of a cell. Each cell is as wide as its column, so one long cell would lengthen every row. */
const MAX_CELL_LENGTH = 200;

/**
 * Lays out rows as lines; each column is as wide as its widest cell. A row may have more cells than the header. Long
 * cells are shortened, except the last cell of a row.
 */
export function inColumns(
  header: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  const all = [header, ...rows].map((row) =>
    row.map((cell, at) => (at === row.length - 1 ? cell : shortened(cell, MAX_CELL_LENGTH))),
  );
  // Not `Math.max(...)` with a spread, which would overflow the stack for many rows.
  const widths = header.map((_, at) => all.reduce((max, row) => Math.max(max, row[at]?.length ?? 0), 0));
  return all.map((row) =>
    row
      .map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}

/** The last line of a terminal, which shows the progress of a command below its output. */
type Screen = {
  /** The current number of characters in a line; it changes with the size of the window. */
  readonly columns: () => number;
  /** Replaces the line, cut to the width; undefined removes it. The line must not contain control characters. */
  readonly show: (line: string | undefined) => void;
};

/** The width of a terminal that does not report it. */
const DEFAULT_COLUMNS = 80;

/** Control sequences that move to the beginning of the line, and erase to its end. They do not change other state. */
const START = '\r';
const ERASE = '\u001b[K';

/**
 * Creates a screen, and the function `say`, which writes lines above the screen's line. All other output to the
 * terminal must use `say`. The screen's line never reaches the last column, where terminals wrap.
 */
export function createScreen(
  stream: { readonly columns?: number | undefined },
  write: (text: string) => void,
) {
  let line = '';
  const columns = () => stream.columns || DEFAULT_COLUMNS;
  const screen: Screen = {
    columns,
    show(given) {
      const next = (given ?? '').slice(0, columns() - 1);
      if (next === line) return;
      line = next;
      write(`${START}${line}${ERASE}`);
    },
  };
  return {
    screen,
    say: (text: string) => write(line === '' ? `${text}\n` : `${START}${ERASE}${text}\n${line}`),
  };
}

/** Why the output of a command is lost. */
type OutputFault =
  /** The pipe or the terminal was closed. */
  | { readonly kind: 'closed' }
  /** The output cannot be stored, for example on a full disk; `reason` is in words. */
  | { readonly kind: 'lost'; readonly reason: string };

/** The abort reason if the output of the command is lost. */
export class OutputError extends Error {
  override readonly name = 'OutputError';
  readonly fault: OutputFault;

  constructor(fault: OutputFault) {
    super(fault.kind === 'closed' ? 'the output was closed' : `the output is lost: ${fault.reason}`);
    this.fault = fault;
  }
}

/**
 * Creates a function that writes to an output of this process. It never throws: after a failed write it reports the
 * fault once, and writes nothing more. Files are written without a stream, since on a full disk Node's stream would
 * report a string as written even if only a part of it fits.
 */
function createOutput(
  stream: NodeJS.WriteStream & { readonly fd: number },
  onFault: (fault: OutputFault) => void,
): (text: string) => void {
  let isBroken = false;
  const broken = (fault: OutputFault) => {
    if (!isBroken) onFault(fault);
    isBroken = true;
  };
  // Without a listener Node would end the process with a stack trace. Pipes and terminals fail only by being closed.
  stream.on('error', () => broken({ kind: 'closed' }));
  const isFile = isStored(stream.fd);
  return (text) => {
    if (isBroken) return;
    if (!isFile) stream.write(text);
    else
      try {
        writeFileSync(stream.fd, text);
      } catch (error) {
        broken({ kind: 'lost', reason: systemReason(error) });
      }
  };
}

/** Whether the output is a file: neither a pipe, a socket nor a terminal. */
function isStored(fd: number): boolean {
  const stats = fstatSync(fd);
  return !stats.isFIFO() && !stats.isSocket() && !isatty(fd);
}
