import { CommanderError } from 'commander';
import { errorText, PeerMissingError, shortened } from '../../base/index.ts';
import { PlatformError } from '../../platform/index.ts';
import { SettingsError } from '../../settings.ts';
import { SnapshotStoppedError } from '../../snapshot/sources/index.ts';
import { StoreError } from '../../store/index.ts';
import { TableError } from '../../table/index.ts';
import { QueryError } from '../../tables/index.ts';
import { TextError } from '../../text/index.ts';
import { type Ended, OutputError, shownLines, type Terminal } from '../terminal/terminal.ts';
import { SentOnceError } from './sent-once.ts';
import { UsageError } from './usage-error.ts';
import { type ErrorJson, factsOf, whatToDo } from './what-to-do.ts';

/** Characters of one message, at most: more than 50 faults or a log line have. */
export const MAX_MESSAGE_LENGTH = 32_768;

/**
 * Prints an error, with what can be done about it. Returns how it ended the command, and the error as `--json` prints it,
 * if it is one.
 */
export function explain(
  error: unknown,
  { err, signal, environment }: Terminal,
): { readonly ended: Ended; readonly error?: ErrorJson } {
  if (error instanceof CommanderError && error.exitCode === 0) return { ended: 'done' };
  // Commander has shown it.
  if (error instanceof CommanderError)
    return { ended: 'usage', error: { kind: 'usage', message: shownLines(error.message) } };
  if (signal.aborted && !(error instanceof SentOnceError)) {
    // The output was closed on purpose: that needs no message.
    if (signal.reason instanceof OutputError) return { ended: 'failed' };
    const message = 'interrupted: stopped as requested';
    err(message);
    const { run } = factsOf(error);
    return {
      ended: run === undefined ? 'stopped' : 'incomplete',
      error: { kind: 'interrupted', message, ...(run === undefined ? {} : { run }) },
    };
  }
  const given = errorText(error);
  const message = shownLines(shortened(given, MAX_MESSAGE_LENGTH));
  const advice = whatToDo(error, environment);
  err([`platform-sync: ${message}`, ...(advice === undefined ? [] : [`  ${shownLines(advice)}`])].join('\n'));
  const kind = isUsage(error) ? 'usage' : 'other';
  const isStopped = signal.aborted && !(signal.reason instanceof OutputError);
  return {
    ended: isUsage(error) ? 'usage' : isStopped ? 'stopped' : 'failed',
    error: { kind, message, ...factsOf(error), ...(advice === undefined ? {} : { advice }) },
  };
}

const USAGE_ERRORS = [SettingsError, UsageError, PeerMissingError, TextError] as const;

function isUsage(error: unknown): boolean {
  if (error instanceof SnapshotStoppedError || error instanceof SentOnceError) return isUsage(error.cause);
  if (USAGE_ERRORS.some((usage) => error instanceof usage)) return true;
  if (error instanceof PlatformError) return error.failure.kind === 'input';
  if (error instanceof QueryError) return error.failure.kind === 'sql';
  if (error instanceof TableError) return error.failure.kind === 'bad-table';
  if (!(error instanceof StoreError)) return false;
  const { failure } = error;
  return failure.kind === 'bad-location' || (failure.kind === 'missing' && failure.what === 'bucket');
}
