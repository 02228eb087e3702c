import type { Readable, Writable } from 'node:stream';
import { shownText } from '../../base/index.ts';
import type { Polls } from '../../jobs/queue/queue.ts';
import type { HoldLeft } from '../../platform/index.ts';
import type { Environment } from '../../settings.ts';
import type { openStore } from '../../store/index.ts';
import type { Awaits } from './awaits.ts';
import type { OutputFault } from './process-output.ts';
import type { Screen } from './screen.ts';

/** Somebody who types. */
export type Dialog = { readonly input: Readable; readonly output: Writable };

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
  readonly readInput: () => Promise<string>;
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
  readonly awaits?: Awaits['hold'];
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

/** How a command ended, as its exit code. */
export const exitCodes = {
  done: 0,
  failed: 1,
  /** Wrong usage or settings. */
  usage: 2,
  /** Finished, but something is incomplete or was refused publication. */
  incomplete: 3,
  /** Stopped by Ctrl-C with nothing to resume. */
  stopped: 130,
} as const;

/** The most characters of one line of somebody else's text. */
const LONGEST_LINE = 20_000;

/** One line of somebody else's text, safe to show: shortened, and terminal control characters are removed. */
export const shown = (text: string): string => shownText(text, LONGEST_LINE);

/** The same for several lines; line breaks stay. */
export const shownLines = (text: string): string => text.split('\n').map(shown).join('\n');
