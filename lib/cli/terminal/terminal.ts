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
import type { HoldLeft } from '../../platform/index.ts';
import type { Environment } from '../../settings.ts';
import type { openStore } from '../../store/index.ts';
import type { OddRows } from '../../text/index.ts';

/**
 * npm forwards a Ctrl-C that the terminal has already sent to this process. A second signal within this time,
 * in milliseconds, is the same Ctrl-C.
 */
const REPEAT_MS = 250;

/** A stop that takes longer than this, in milliseconds, is reported, even if it is unknown what it waits for. */
const SILENT_MS = 1_000;

/**
 * The terminal of this process. The first Ctrl-C asks the command to stop, and prints what it waits for. The
 * second prints what is lost, and ends the process at once. If the output is closed or full, the command is
 * asked to stop as well.
 */
export function processTerminal(): Terminal {
  const stop = new AbortController();
  const awaits = createAwaits();
  let fault: OutputFault | undefined;
  const err = createOutput(process.stderr, (found) => {
    // If the disk is full, a log that cannot be written must not stop the work.
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
  stopOnSignals(stop, say, awaits);
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
    awaits: awaits.hold,
    holdLeft({ operation, timeoutMs }) {
      const left = LEFT[operation];
      const untilMs = performance.now() + timeoutMs;
      return left === undefined ? { [Symbol.dispose]: () => undefined } : awaits.hold({ ...left, untilMs });
    },
  };
}

/** Resolves when the stream has room, or has ended. */
async function untilDrained(stream: NodeJS.WriteStream, stop: AbortSignal): Promise<void> {
  // The error of a write arrives later.
  await setImmediate();
  if (!stream.writableNeedDrain || stop.aborted) return;
  // A closed stream reports an error, which stops the command.
  await once(stream, 'drain', { signal: stop }).catch(() => undefined);
}

function stopOnSignals(
  stop: AbortController,
  say: (line: string) => void,
  { waitedFor, lost }: Pick<ReturnType<typeof createAwaits>, 'waitedFor' | 'lost'>,
): void {
  let stoppedMs: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    // The listener stays until the second signal: some libraries end the process if they find no other
    // listener.
    const onSignal = () => {
      const nowMs = performance.now();
      if (stoppedMs === undefined) {
        stoppedMs = nowMs;
        // A process that is exiting cannot catch signals, so it stays alive until the repeated signal has
        // arrived.
        setTimeout(() => undefined, REPEAT_MS);
        stop.abort(new Error(`stopped by ${signal}`));
        sayWhy(say, waitedFor);
        return;
      }
      // The shell and the kernel each report that a terminal was closed: the second report is not a second
      // request.
      if (signal === 'SIGHUP' || nowMs - stoppedMs < REPEAT_MS) return;
      const words = lost();
      say(words === undefined ? 'ended at once; nothing is lost' : `ended at once; lost: ${words}`);
      process.off(signal, onSignal);
      process.kill(process.pid, signal);
    };
    process.on(signal, onSignal);
  }
}

/** Prints what a stop waits for: at once if that is known, otherwise after a while. */
function sayWhy(say: (line: string) => void, waitedFor: ReturnType<typeof createAwaits>['waitedFor']): void {
  const words = waitedFor();
  if (words !== undefined) say(`stopping: waiting for ${words}; Ctrl-C again ends at once`);
  else
    setTimeout(
      () => say('stopping: finishing the work in progress; Ctrl-C again ends at once'),
      SILENT_MS,
    ).unref();
}

/** Reads standard input. A stop ends it, since at a terminal it may never end. */
async function readInput(signal: AbortSignal): Promise<Uint8Array> {
  const end = () => process.stdin.destroy();
  signal.addEventListener('abort', end, { once: true });
  try {
    return await buffer(process.stdin);
  } finally {
    signal.removeEventListener('abort', end);
  }
}

/** Records what a stop waits for, and what ending at once would lose. */
function createAwaits() {
  const held = new Set<Awaited>();
  const listed = (of: 'what' | 'lost') => {
    const groups = Map.groupBy(held, (each) => each[of]);
    return [...groups].flatMap(([words, { length }]) => words?.replace('#', `${length}`) ?? []);
  };
  return {
    hold(awaited: Awaited): Disposable {
      // It is a new object, so that the same thing can be registered twice.
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
    /** What is lost if the process ends at once; undefined if nothing is lost. */
    lost: () => (held.size === 0 ? undefined : listed('lost').join('; ')),
  };
}

/** What a stop waits for, and what would be lost otherwise, by operation. All other operations can be sent again. */
const LEFT: Readonly<Record<string, Awaited>> = {
  analyzeSentiment: {
    what: '# paid response(s)',
    lost: '# paid response(s), whose texts are paid for again when they are scored',
  },
  runFunction: {
    what: '# response(s) of functions',
    lost: '# response(s) of functions, which may have run: look at what they change before they are run again',
  },
  updateFormula: {
    what: '# response(s) to updates of formulas',
    lost: '# response(s) to updates of formulas, which may be set: look at the calculations',
  },
};

/** The streams to and from a person at the keyboard. */
export type Dialog = { readonly input: Readable; readonly output: Writable };

/** Something that a stop waits for, or that ending at once would lose. */
type Awaited = {
  /** What a stop waits for, with `#` for the number: `# paid response(s)`. Absent: the stop does not wait for it. */
  readonly what?: string;
  /** The latest time at which it ends, by `performance.now()`. */
  readonly untilMs?: number;
  /** What happens to it if the process ends at once, in words that follow a colon. */
  readonly lost: string;
};

/** The parts of its process that a command may use. */
export type Terminal = {
  readonly environment: Environment;
  /** Prints results. With `--json`, exactly one JSON value. */
  readonly out: (text: string) => void;
  /** Prints progress, hints and faults. */
  readonly err: (text: string) => void;
  /** Receives log lines as JSON, to show them to people in words. Absent: they go to `err`. */
  readonly log?: ((line: string) => void) | undefined;
  /** Where a line shows the progress; undefined without a terminal. */
  readonly screen: Screen | undefined;
  /** Reads all of standard input. */
  readonly readInput: () => Promise<Uint8Array>;
  /** Aborted by Ctrl-C, SIGTERM, SIGHUP (the terminal was closed), and when the output is closed or full. */
  readonly signal: AbortSignal;
  /** How many characters a line of standard output has, if it is a screen. */
  readonly width?: number | undefined;
  /** Resolves when there is room for more results. It is false if there is no reader any more, as after `| head`. */
  readonly drained?: () => Promise<boolean>;
  /** Where people type lines; undefined without a terminal. */
  readonly dialog?: Dialog | undefined;
  /** Standard input and output without any conversion, for a protocol; absent if the terminal has neither. */
  readonly pipes?: Dialog | undefined;
  /** Why some results could not be written; undefined if all were. Absent: all results are always written. */
  readonly outputFault?: () => OutputFault | undefined;
  /** Registers something that a stop waits for, or that ending at once would lose. Absent: nothing is registered. */
  readonly awaits?: (awaited: Awaited) => Disposable;
  /** Registers a call that was sent: a stop waits for its response. Absent: nothing is registered. */
  readonly holdLeft?: HoldLeft;
  /** How queues are polled. Absent: by long polls. */
  readonly polls?: Queue['polls'];
  /**
   * Opens the store for commands that do not need the platform. Absent: the store that `SYNC_STORE` names is opened.
   */
  readonly openStore?: typeof openStore;
};

/** Warns that something failed, and why, although the command succeeds. */
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

export type Ended = keyof typeof exitCodes;

/** Maximum characters of one line of text from outside. */
const MAX_LINE_LENGTH = 20_000;

/** One line of text from outside, safe to show: shortened, without terminal control characters. */
export const shown = (text: string): string => shownText(text, MAX_LINE_LENGTH);

/** Several lines of text from outside, safe to show; line breaks stay. */
export const shownLines = (text: string): string => text.split('\n').map(shown).join('\n');

/** A number for people: `20,000`. */
export const number = (value: number): string => value.toLocaleString('en');

/** A number with its noun: `1 row`, `20,000 rows`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${number(count)} ${count === 1 ? one : many}`;

/** Reports rows of a CSV that do not match its header; empty if all match. */
export const oddLines = ({ blank, short }: OddRows): readonly string[] => [
  ...(blank > 0 ? [`${counted(blank, 'blank line')} skipped`] : []),
  ...(short > 0 ? [`${counted(short, 'row')} without the last fields, which are empty`] : []),
];

/** The line `and 12 more`, with the noun; empty if all are listed. */
export const andMore = (left: number, what = ''): readonly string[] =>
  left > 0 ? [`and ${number(left)} more${what}`] : [];

/** At most `most` lines, indented, and a line `and N more` for the others. */
export const firstOf = (lines: readonly string[], most: number): readonly string[] =>
  [...lines.slice(0, most), ...andMore(lines.length - most)].map((line) => `  ${line}`);

/** Reports what `--limit` leaves out; empty if it leaves out nothing. */
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

/** The outcome of a command: one JSON value for machines, words for people. `ended`: done by default. */
export type Found = {
  readonly json: unknown;
  /** A text, whose line breaks stay; or lines, each of which stays one line, even if a name in it has line breaks. */
  readonly words: string | readonly string[];
  readonly ended?: Ended;
};

/** Prints an outcome, and returns how the command ended. */
export function printFound(
  { json, words, ended = 'done' }: Found,
  isJson: true | undefined,
  { out }: Pick<Terminal, 'out'>,
): Ended {
  if (isJson) out(printJson(json, 2));
  else if (typeof words === 'string') out(shownLines(words));
  else if (words.length > 0) out(words.map(shown).join('\n'));
  return ended;
}

/**
 * Maximum characters of a cell. Cells are padded to the widest of their column, so one long cell would
 * lengthen every row.
 */
const MAX_CELL_LENGTH = 200;

/**
 * Prints rows as lines, with each column as wide as its widest cell. A row may have more cells than the
 * header. All cells but the last of a row are shortened.
 */
export function inColumns(
  header: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  const all = [header, ...rows].map((row) =>
    row.map((cell, at) => (at === row.length - 1 ? cell : shortened(cell, MAX_CELL_LENGTH))),
  );
  // They are not passed as arguments of one call: there may be more rows than a stack has room for.
  const widths = header.map((_, at) => all.reduce((most, row) => Math.max(most, row[at]?.length ?? 0), 0));
  return all.map((row) =>
    row
      .map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}

/** The last line of a terminal, which shows the progress of a command below its output. */
type Screen = {
  /** How many characters a line has now, since people change the size of their windows. */
  readonly columns: () => number;
  /** Replaces the line by another one without control characters, cut to the width; undefined removes it. */
  readonly show: (line: string | undefined) => void;
};

/** The width if a terminal does not report it. */
const COLUMNS = 80;

/**
 * Control sequences that move to the beginning of the line, and erase to its end. Neither can leave the
 * terminal in another state.
 */
const START = '\r';
const ERASE = '\u001b[K';

/**
 * Creates a screen, and the function `say`, which writes lines above it: everything else that is written to
 * the terminal must use it. The line never reaches the last column, where terminals wrap.
 */
export function createScreen(
  stream: { readonly columns?: number | undefined },
  write: (text: string) => void,
) {
  let line = '';
  const columns = () => stream.columns || COLUMNS;
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
  /** The reader no longer exists: a pipe or a terminal was closed. */
  | { readonly kind: 'closed' }
  /** The output cannot be stored, for example on a full disk; `reason` is in words. */
  | { readonly kind: 'lost'; readonly reason: string };

/** The reason of a stop: the output of the command is lost. */
export class OutputError extends Error {
  override readonly name = 'OutputError';
  readonly fault: OutputFault;

  constructor(fault: OutputFault) {
    super(fault.kind === 'closed' ? 'its output was closed' : `its output is lost: ${fault.reason}`);
    this.fault = fault;
  }
}

/**
 * Writes texts to an output of this process until one fails, and reports that once; it never throws. Files are written
 * here without a stream: on a full disk, Node's stream would report a text as written although only a part of it fits.
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
  // Without a listener Node would end the process with a stack trace. A pipe or a terminal can only be
  // closed.
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
