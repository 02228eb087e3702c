import { parseOwnJson } from '../../base/json/index.ts';
import { describeFailure, type PlatformFailure } from '../../platform/index.ts';
import { shownLines } from './terminal.ts';

/** The fields of a log line besides its message. They come from JSON and may have any type. */
type Facts = Readonly<Record<string, unknown>>;

/** For how many milliseconds a text is not repeated: each job that meets a pause reports it. */
const REPEATED_MS = 60_000;

/** Creates a function that shows log lines, which are JSON, to people: the time, the level, and words. */
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
    if (nowMs - (shownAtMs.get(words) ?? Number.NEGATIVE_INFINITY) < REPEATED_MS) return;
    if (shownAtMs.size >= MAX_REMEMBERED) shownAtMs.clear();
    shownAtMs.set(words, nowMs);
    err(shownLines(`${clockTime(nowMs)} ${LEVELS[String(level)] ?? level}: ${words}`));
  };
}

/** Parses a line. If its facts are nested too deeply, it is shown unchanged: logging never fails. */
function factsIn(line: string): Facts {
  try {
    return parseOwnJson(line) as Facts;
  } catch {
    return { level: 'log', msg: line };
  }
}

const MAX_REMEMBERED = 1_000;

/** The time of day here, `19:41:07`. */
export const clockTime = (atMs: number): string => new Date(atMs).toTimeString().slice(0, 8);

const LEVELS: Readonly<Record<string, string>> = { warn: 'warning' };

/** Messages whose facts become a sentence. The sentence is undefined if people see the fact elsewhere. */
const WORDS: Readonly<Record<string, (facts: Facts) => string | undefined>> = {
  retry({ operation, failure, delayMs }) {
    const failed = failure as PlatformFailure;
    // The operation is left out, so that calls that wait for the same reason are reported once.
    if (failed.kind === 'wait') return describeFailure(failed);
    return `${operation}: ${describeFailure(failed)}; trying again in ${seconds(delayMs)}`;
  },
  // This is reported by the retry, or by the job that returns to the queue.
  throttled: () => undefined,
  'job not done'({ job, type, after, err }) {
    const failure = failureOf(err);
    if (failure?.kind === 'wait') return describeFailure(failure);
    // The job's outcome is shown with those of the other jobs.
    if (after === 'end') return undefined;
    const then = after === 'leave' ? 'another worker has it' : 'back on the queue';
    return `${type} ${job}: ${messageOf(err)}; ${then}`;
  },
  'job started': () => undefined,
  'job ended': () => undefined,
  JobFinished: () => undefined,
  'message refused': ({ refused, faults }) => `a message was refused (${refused}): ${listOf(faults)}`,
  'the platform is unavailable: no jobs are taken'({ host, open }) {
    const cause = factOf(open, 'cause');
    return cause === 'refused token'
      ? `${host} refuses the token of this worker or of another one: no jobs are taken until it accepts one`
      : `${host} is unavailable (${cause}): no jobs are taken until it is available again`;
  },
  'the platform is back': ({ host }) => `${host} is back`,
  'table unavailable: nothing is sent': ({ err }) =>
    `the table with the fleet’s budget does not respond (${messageOf(err)}): nothing is sent until it does`,
  'table back': () => 'the table with the fleet’s budget is back',
};

/** The platform's failure, from an error as it is in the log. */
function failureOf(err: unknown): PlatformFailure | undefined {
  const failure = factOf(err, 'failure');
  return typeof failure === 'object' && failure !== null ? (failure as PlatformFailure) : undefined;
}

const factOf = (of: unknown, name: string): unknown =>
  typeof of === 'object' && of !== null ? Reflect.get(of, name) : undefined;

const messageOf = (err: unknown): string => String(factOf(err, 'message') ?? err);

const listOf = (faults: unknown): string => (Array.isArray(faults) ? faults.join('; ') : String(faults));

const seconds = (ms: unknown): string => `${(Number(ms) / 1_000).toFixed(1)} s`;

/** The words for any other message: its error, and the other facts in brackets. */
function restOf({ err, ...facts }: Facts): string {
  const named = Object.entries(facts).map(([name, value]) => `${name} ${plain(value)}`);
  return `${err === undefined ? '' : `: ${messageOf(err)}`}${named.length === 0 ? '' : ` (${named.join(', ')})`}`;
}

const plain = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
