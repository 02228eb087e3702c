import { inspect } from 'node:util';
import { boundedLine, currentIds } from './base/index.ts';
import { type LogLevel, logLevels } from './settings.ts';

/** Writes a line of each level: the message is constant, what differs is in the facts. `err` is an error. Never throws. */
export type Logger = Readonly<Record<Exclude<LogLevel, 'silent'>, (facts: object, message: string) => void>>;

/**
 * A logger that writes each line of `least` and above as one JSON object of bounded size, without a line feed. `level` is
 * a name and `timestamp` is of RFC 3339: so Lambda takes both from the line and adds nothing to it. Each has the ids of
 * what is being done (`traced`), unless it says otherwise.
 */
export function createLogger(least: LogLevel, write: (line: string) => void): Logger {
  const from = logLevels.indexOf(least);
  const writers = logLevels.map((level, index) => [
    level,
    index < from
      ? () => {}
      : (facts: object, msg: string) => {
          const timestamp = new Date().toISOString();
          write(boundedLine(printed({ level, timestamp, ...currentIds(), ...facts, msg })));
        },
  ]);
  return Object.fromEntries(writers);
}

/** What JSON cannot hold, such as a value that holds itself, is shown as Node shows it. */
function printed(facts: Readonly<Record<string, unknown>>): string {
  try {
    return JSON.stringify('err' in facts ? { ...facts, err: describeError(facts['err']) } : facts);
  } catch {
    return JSON.stringify(
      Object.fromEntries(Object.entries(facts).map(([name, fact]) => [name, shown(fact)])),
    );
  }
}

function shown(fact: unknown): unknown {
  try {
    return Object(fact) === fact || typeof fact === 'bigint' ? inspect(fact) : fact;
  } catch {
    return 'a value that cannot be shown';
  }
}

/** `type` is our class's name: its constructor's is `e` in a minified bundle. A refusal has no stack. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  // The name is an own property of our errors.
  const { name: _name, cause: _cause, type: _type, ...own }: Readonly<Record<string, unknown>> = { ...error };
  const facts = Object.fromEntries(Object.entries(own).map(([name, fact]) => [name, describeError(fact)]));
  if (isRefusal(error)) return { type: error.name, message: error.message, ...facts };
  const chain = chainOf(error);
  return {
    type: error.name,
    message: chain.map(({ message }) => message).join(': '),
    stack: chain.map(({ stack }) => stack).join('\ncaused by: '),
    ...(error instanceof AggregateError ? { aggregateErrors: error.errors.map(describeError) } : {}),
    ...facts,
  };
}

/** An error, its cause, the cause of that: each once. */
function chainOf(error: Error): readonly Error[] {
  const chain: Error[] = [];
  for (let each: unknown = error; each instanceof Error && !chain.includes(each); each = each.cause)
    chain.push(each);
  return chain;
}

/** What somebody else responded, or did not; a job that is refused or handed back; or what only carries one. */
function isRefusal(error: Error): boolean {
  if (error.cause instanceof Error && error.cause !== error && error.cause.message === error.message)
    return isRefusal(error.cause);
  if ('isRefusal' in error) return error.isRefusal === true;
  if (!('failure' in error) || typeof error.failure !== 'object' || error.failure === null) return false;
  return 'kind' in error.failure && error.failure.kind !== 'other';
}
