import type { Readable, Writable } from 'node:stream';
import { printJson, shortened, shownText } from '../../base/index.ts';
import type { Polls } from '../../jobs/queue/queue.ts';
import type { HoldLeft } from '../../platform/index.ts';
import type { Environment } from '../../settings.ts';
import type { openStore } from '../../store/index.ts';
import type { OddRows } from '../../text/index.ts';
import type { OutputFault } from './process-output.ts';
import type { Screen } from './screen.ts';

/** Somebody who types. */
export type Dialog = { readonly input: Readable; readonly output: Writable };

/** What a stop waits for, or what an end at once would lose. */
export type Awaited = {
  /** What is waited for, with `#` for how many: `# paid response(s)`. Absent: nothing is. */
  readonly what?: string;
  /** When it has ended at the latest, by `performance.now()`. */
  readonly untilMs?: number;
  /** What happens to it if the process ends at once, in words that follow a colon. */
  readonly lost: string;
};

/** What a command may use of the process that it runs in. */
export type Terminal = {
  readonly environment: Environment;
  /** Results. With `--json`, exactly one JSON value. */
  readonly out: (text: string) => void;
  /** Progress, hints, faults. */
  readonly err: (text: string) => void;
  /** Receives the lines of the log, as JSON, where people read them in words. Absent: `err` does. */
  readonly log?: ((line: string) => void) | undefined;
  /** Where a line shows how far the command is; undefined if nobody is watching. */
  readonly screen: Screen | undefined;
  /** All of standard input. */
  readonly readInput: () => Promise<Uint8Array>;
  /** Aborted by Ctrl-C, SIGTERM, SIGHUP (the terminal was closed), and when nobody can have the output any more. */
  readonly signal: AbortSignal;
  /** How many characters a line of standard output has, if it is a screen. */
  readonly width?: number | undefined;
  /** Resolves when there is room for more results: false if nobody reads them any more, as after `| head`. */
  readonly drained?: () => Promise<boolean>;
  /** Where people type lines and see them; undefined if nobody is there. */
  readonly dialog?: Dialog | undefined;
  /** Standard input and output as they are, for a protocol. Absent: there are none. */
  readonly pipes?: Dialog | undefined;
  /** Why nobody can have all of the results; undefined if they were written. Absent: they always are. */
  readonly outputFault?: () => OutputFault | undefined;
  /** Holds what a stop waits for, or an end at once would lose. Absent: nothing does. */
  readonly awaits?: (awaited: Awaited) => Disposable;
  /** The same for calls that have left. */
  readonly holdLeft?: HoldLeft;
  /** How queues are polled; long polls if absent. */
  readonly polls?: Polls | undefined;
  /** Opens the store of commands that do not need the platform. Absent: what `SYNC_STORE` names. */
  readonly openStore?: typeof openStore;
};

/** Says what could not be done although the command does what it should, and why. */
export const warnOn =
  ({ err }: Pick<Terminal, 'err'>) =>
  (what: string, reason: Error): void =>
    err(shownLines(`warning: ${what}: ${reason.message}`));

/** How a command ended, and its exit code. */
export const exitCodes = {
  done: 0,
  failed: 1,
  /** Wrong usage or settings. */
  usage: 2,
  /** Finished, but something is incomplete or was refused publication. */
  incomplete: 3,
  /** Stopped by Ctrl-C with no run that can be resumed. */
  stopped: 130,
} as const;

export type Ended = keyof typeof exitCodes;

/** The most characters of one line of somebody else's text. */
const LONGEST_LINE = 20_000;

/** One line of somebody else's text, safe to show: shortened, and terminal control characters are removed. */
export const shown = (text: string): string => shownText(text, LONGEST_LINE);

/** The same for several lines; line breaks stay. */
export const shownLines = (text: string): string => text.split('\n').map(shown).join('\n');

/** `20,000`. */
export const number = (value: number): string => value.toLocaleString('en');

/** `1 row`, `20,000 rows`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${number(count)} ${count === 1 ? one : many}`;

/** Says what rows of a CSV are not as its header says; nothing if all are. */
export const oddLines = ({ blank, short }: OddRows): readonly string[] => [
  ...(blank > 0 ? [`${counted(blank, 'blank line')} skipped`] : []),
  ...(short > 0 ? [`${counted(short, 'row')} without the last fields, which are empty`] : []),
];

/** `and 12 more` of what is listed, with what it is; nothing if all is. */
export const andMore = (left: number, what = ''): readonly string[] =>
  left > 0 ? [`and ${number(left)} more${what}`] : [];

/** The first of some lines, indented, and how many others there are. */
export const firstOf = (lines: readonly string[], most: number): readonly string[] =>
  [...lines.slice(0, most), ...andMore(lines.length - most)].map((line) => `  ${line}`);

/** Says that there is more than `--limit` lets a command list; nothing if there is not. */
export const notListed = (left: number, noun: string): readonly string[] =>
  left > 0 ? [`${left} earlier ${left === 1 ? noun : `${noun}s`} not listed; use --limit to list more`] : [];

/** `4.0 kB`, `2.1 MB`. */
export const size = (bytes: number): string =>
  bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;

/** A span of time, rounded up: `90 s`, `12 min`, `3.5 h`, `5 days`. */
export function duration(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.ceil(seconds / 60)} min`;
  return seconds < 172_800 ? `${(seconds / 3_600).toFixed(1)} h` : `${Math.ceil(seconds / 86_400)} days`;
}

/** What a command found: one JSON value for machines, words for people. `ended`: done, if it is absent. */
export type Found = {
  readonly json: unknown;
  /** A text, whose line breaks stay, or one line after another, each of which stays one: names may hold line breaks. */
  readonly words: string | readonly string[];
  readonly ended?: Ended;
};

/** Prints what a command found, and returns how it ended. */
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

/** Cells are padded to the widest of their column, so one long cell would lengthen every row. */
const LONGEST_CELL = 200;

/**
 * Prints rows as lines, with each column as wide as its widest cell. A row may have more cells than the header. Cells
 * other than a row's last are shortened.
 */
export function inColumns(
  header: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  const all = [header, ...rows].map((row) =>
    row.map((cell, at) => (at === row.length - 1 ? cell : shortened(cell, LONGEST_CELL))),
  );
  // Not as arguments of one call: rows may be more than a stack has room for.
  const widths = header.map((_, at) => all.reduce((most, row) => Math.max(most, row[at]?.length ?? 0), 0));
  return all.map((row) =>
    row
      .map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}
