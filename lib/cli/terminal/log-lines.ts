import { parseOwnJson } from '../../base/json/index.ts';
import { describeFailure, type PlatformFailure } from '../../platform/index.ts';
import { shownLines } from './terminal.ts';

/** The fields of a log line besides its message. They come from JSON and may have any type. */
type Facts = Readonly<Record<string, unknown>>;

/**
 * The same line is not shown again within this time, in milliseconds, since every job that waits for a pause logs
 * it.
 */
const MIN_REPEAT_MS = 60_000;

/** Creates a function that prints log lines, which are JSON, in words: the time, the level, and a sentence. */
export function createLogLines(options: {
  readonly err: (text: string) => void;
  /** The clock, in epoch milliseconds. */
  readonly now: () => number;
}): (line: string) => void {
  const { err, now } = options;
  const shownAtMs = new Map<string, number>();
  return (line) => {
    const { level, timestamp: _, msg, ...facts } = factsIn(line);
    const describe = WORDS[String(msg)];
    const words = describe === undefined ? `${msg}${restOf(facts)}` : describe(facts);
    if (words === undefined) return;
    const nowMs = now();
    if (nowMs - (shownAtMs.get(words) ?? Number.NEGATIVE_INFINITY) < MIN_REPEAT_MS) return;
    if (shownAtMs.size >= MAX_REMEMBERED) shownAtMs.clear();
    shownAtMs.set(words, nowMs);
    err(shownLines(`${clockTime(nowMs)} ${LEVELS[String(level)] ?? level}: ${words}`));
  };
}

/** Parses a line. If the line cannot be parsed, it is shown unchanged, since logging must never fail. */
function factsIn(line: string): Facts {
  try {
    return parseOwnJson(line) as Facts;
  } catch {
    return { level: 'log', msg: line };
  }
}

const MAX_REMEMBERED = 1_000;

/** The local time of day, such as `19:41:07`. */
export const clockTime = (atMs: number): string => new Date(atMs).toTimeString().slice(0, 8);

const LEVELS: Readonly<Record<string, string>> = { warn: 'warning' };

/** The log messages that are printed as a sentence. Undefined: the line is not printed, since other output says it. */
const WORDS: Readonly<Record<string, (facts: Facts) => string | undefined>> = {
  retry({ operation, failure, delayMs }) {
    const failed = failure as PlatformFailure;
    // The operation is left out, so that all calls that wait for the same reason share one line.
    if (failed.kind === 'wait') return describeFailure(failed);
    return `${operation}: ${describeFailure(failed)}; trying again in ${seconds(delayMs)}`;
  },
  // Not printed: the line about the retry, or about the job that returns to the queue, says it.
  throttled: () => undefined,
  'job not done'({ job, type, after, err }) {
    const failure = failureOf(err);
    if (failure?.kind === 'wait') return describeFailure(failure);
    // The job's outcome is printed with the other outcomes.
    if (after === 'end') return undefined;
    const then = after === 'leave' ? 'another worker has taken it over' : 'it is back on the queue';
    return `${type} ${job}: ${messageOf(err)}; ${then}`;
  },
  'job started': () => undefined,
  'job ended': () => undefined,
  JobFinished: () => undefined,
  'message refused': ({ refused, faults }) => `a message was refused (${refused}): ${listOf(faults)}`,
  'the platform is unavailable: no jobs are taken'({ host, open }) {
    const cause = factOf(open, 'cause');
    return cause === 'refused token'
      ? `${host} refuses the token of this worker or of another worker: no jobs are taken until it accepts a token`
      : `${host} is unavailable (${cause}): no jobs are taken until it is available again`;
  },
  'the platform is available again': ({ host }) => `${host} is available again`,
  'table unavailable: nothing is sent': ({ err }) =>
    `the table with the fleet’s budget does not respond (${messageOf(err)}): nothing is sent until it does`,
  'table available again': () => 'the table with the fleet’s budget is available again',
};

/** The platform's failure in a logged error. */
function failureOf(err: unknown): PlatformFailure | undefined {
  const failure = factOf(err, 'failure');
  return typeof failure === 'object' && failure !== null ? (failure as PlatformFailure) : undefined;
}

const factOf = (of: unknown, name: string): unknown =>
  typeof of === 'object' && of !== null ? Reflect.get(of, name) : undefined;

const messageOf = (err: unknown): string => String(factOf(err, 'message') ?? err);

const listOf = (faults: unknown): string => (Array.isArray(faults) ? faults.join('; ') : String(faults));

const seconds = (ms: unknown): string => `${(Number(ms) / 1_000).toFixed(1)} s`;

/** The words for any other message: its error, then its other facts in brackets. */
function restOf({ err, ...facts }: Facts): string {
  const named = Object.entries(facts).map(([name, value]) => `${name} ${plain(value)}`);
  return `${err === undefined ? '' : `: ${messageOf(err)}`}${named.length === 0 ? '' : ` (${named.join(', ')})`}`;
}

const plain = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
