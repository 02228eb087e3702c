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
 * Adds `problem` to the line of a permanent failure, for example `ResourceMissing-table` or
 * `ResourceRefused-event-bus`. Alarms count these lines.
 */
function withProblem(line: Record<string, unknown>): Record<string, unknown> {
  const failure = lastingFailure(line['err']);
  return failure === undefined ? line : { ...line, problem: `${failure.problem}-${failure.resource}` };
}

/**
 * An error as fields. `type` is the error's `name`: pino would use the name of the constructor, which is `e` in a
 * minified bundle.
 */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  // Removed, since it would repeat `type`: the errors of this program have their name as an own property.
  const { name: _name, ...facts }: Record<string, unknown> = { ...pino.stdSerializers.err(error) };
  if (isRefusal(error)) {
    const { stack: _stack, cause: _cause, ...rest } = facts;
    return { ...rest, message: error.message, type: error.name };
  }
  const errors = error instanceof AggregateError ? { aggregateErrors: error.errors.map(describeError) } : {};
  return { ...facts, type: error.name, ...errors };
}

/**
 * Whether an error needs no stack: it reports a response from outside, or a refused or requeued job, or only repeats
 * such an error.
 */
function isRefusal(error: Error): boolean {
  if (error.cause instanceof Error && error.cause !== error && error.cause.message === error.message)
    return isRefusal(error.cause);
  if ('isRefusal' in error) return error.isRefusal === true;
  if (!('failure' in error) || typeof error.failure !== 'object' || error.failure === null) return false;
  return 'kind' in error.failure && error.failure.kind !== 'other';
}

/** Maximum characters of a line, and of the message in a line that is longer. */
const MAX_LINE_LENGTH = 10_000;
const MAX_MSG_LENGTH = 500;

/**
 * Makes a log line safe to print. A line over 10,000 characters is replaced by its level, its time, its length, a
 * shortened message, and its beginning in `cut`: at most 15,000 characters.
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
