import pino, { type Logger } from 'pino';
import { currentIds, lastingFailure } from './base/aws/index.ts';
import { shortened, shownJson } from './base/index.ts';
import { parseOwnJson } from './base/json/index.ts';

/**
 * A logger that writes each line as one JSON object of bounded size, without a line feed. `level` is a name
 * and `timestamp` follows RFC 3339, so Lambda takes both from the line and adds nothing. Each line has the
 * ids of the current work (`traced`), unless its own fields replace them.
 */
export const createLogger = (level: string, write: (line: string) => void): Logger =>
  pino(
    {
      level,
      base: null,
      timestamp: () => `,"timestamp":"${new Date().toISOString()}"`,
      formatters: { level: (name) => ({ level: name }), log: withProblem },
      mixin: currentIds,
      serializers: { err: describeError },
    },
    { write: (line: string) => write(boundedLine(line.trimEnd())) },
  );

/**
 * Adds to a line about a permanent failure the problem that names the part, for alarms: `PartMissing-table`,
 * `PartRefused-event-bus`.
 */
function withProblem(line: Record<string, unknown>): Record<string, unknown> {
  const failure = lastingFailure(line['err']);
  return failure === undefined ? line : { ...line, problem: `${failure.problem}-${failure.part}` };
}

/**
 * An error as fields. `type` is the name of our class: pino would use the constructor's, which is `e` in a
 * minified bundle.
 */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  // The name is an own property of our errors.
  const { name: _name, ...facts }: Record<string, unknown> = { ...pino.stdSerializers.err(error) };
  if (isRefusal(error)) {
    const { stack: _stack, cause: _cause, ...rest } = facts;
    return { ...rest, message: error.message, type: error.name };
  }
  const errors = error instanceof AggregateError ? { aggregateErrors: error.errors.map(describeError) } : {};
  return { ...facts, type: error.name, ...errors };
}

/**
 * Whether an error needs no stack: it is a response from outside, a refused or requeued job, or has one of
 * these as its cause.
 */
function isRefusal(error: Error): boolean {
  if (error.cause instanceof Error && error.cause !== error && error.cause.message === error.message)
    return isRefusal(error.cause);
  if ('isRefusal' in error) return error.isRefusal === true;
  if (!('failure' in error) || typeof error.failure !== 'object' || error.failure === null) return false;
  return 'kind' in error.failure && error.failure.kind !== 'other';
}

/** Maximum characters of a line: fewer than a message at a terminal may have. */
const MAX_LINE_LENGTH = 10_000;
const MAX_MSG_LENGTH = 500;

/**
 * A line of the log, cut to at most 15,000 characters. Of a line over 10,000, the level, time and message
 * stay, and its beginning is in `cut`.
 */
function boundedLine(line: string): string {
  const shown = shownJson(line);
  if (shown.length <= MAX_LINE_LENGTH) return shown;
  const { level, timestamp, msg } = parseOwnJson(line) as Readonly<Record<string, unknown>>;
  const cut = shortened(shown, MAX_LINE_LENGTH / 2);
  return shownJson(
    JSON.stringify({
      level,
      timestamp,
      msg: shortened(String(msg), MAX_MSG_LENGTH),
      length: line.length,
      cut,
    }),
  );
}
