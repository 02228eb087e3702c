import { sleep } from '../../base/index.ts';
import { PlatformError } from '../../platform/index.ts';
import type { Session } from '../../session.ts';
import {
  KnownRefusalError,
  type Publication,
  readCheckpoint,
  type Saved,
  scanOfRun,
  takeRun,
} from '../../snapshot/index.ts';
import { readGates, SnapshotStoppedError } from '../../snapshot/sources/index.ts';
import type { Store } from '../../store/index.ts';
import { snapshotCommand } from '../options/command-lines.ts';
import { createProgress } from '../terminal/progress.ts';
import { type CommandResult, shown, type Terminal } from '../terminal/terminal.ts';

/**
 * Completes a run in this process and publishes it, while showing the progress. If it stops, prints how to resume
 * it.
 */
export async function takeHere(
  saved: Saved,
  options: {
    readonly session: Session;
    readonly store: Store;
    /** Whether to publish the run even if a gate refuses it. */
    readonly force: boolean;
    /** Whether an earlier process began the run. */
    readonly isResumed: boolean;
  },
  terminal: Terminal,
): Promise<Publication> {
  const { session, store, force, isResumed } = options;
  const { settings, call, callCounts, paceCounts } = session;
  const { source: place, run: id, records: recordsBefore } = saved.checkpoint;
  // The name of the run is printed before the first request, so that it is known even after a kill.
  terminal.err(`${place}: ${isResumed ? 'resuming run' : 'run'} ${id}`);
  const scan = await scanOfRun(saved.checkpoint, { call, store, sleep });
  const progress = createProgress(place, { ...terminal, callCounts, recordsBefore });
  using _pending = terminal.trackPending?.({ lost: LOST });
  try {
    return await takeRun(saved, scan, {
      store,
      force,
      gates: readGates(settings.SYNC_GATES),
      callCounts,
      paceCounts,
      now: Date.now,
      random: Math.random,
      platform: new URL(settings.PLATFORM_BASE_URL).host,
      partMs: settings.SYNC_PART_SECONDS * 1_000,
      onProgress: progress.update,
      onRead: progress.publishing,
      signal: terminal.signal,
    });
  } catch (error) {
    if (error instanceof SnapshotStoppedError && (await canResume(store, error)))
      terminal.err(`stopped; to resume: ${snapshotCommand(place, error.run)}`);
    throw error;
  } finally {
    progress.end();
  }
}

/** What is lost if the process ends immediately; everything else can be resumed. */
const LOST = 'the records that were read since the last part was stored; a resumed run reads them again';

/**
 * Whether a resumed run could succeed. False if its request cannot be sent, or if the platform responded with 400
 * before any record was stored.
 */
async function canResume(store: Store, { cause, source, run }: SnapshotStoppedError): Promise<boolean> {
  const failure = cause instanceof PlatformError ? cause.failure : undefined;
  if (failure?.kind === 'input') return false;
  if (failure?.kind !== 'status' || failure.status !== 400) return true;
  // If the checkpoint cannot be read, the command to resume is shown anyway.
  const records = await readCheckpoint(store, source, run).then(
    ({ checkpoint }) => checkpoint.records,
    () => undefined,
  );
  return records !== 0;
}

/** Reports a run that was not started because a gate would refuse it. Throws any other error. */
export function foundRefused(error: unknown, { err }: Terminal): CommandResult {
  if (!(error instanceof KnownRefusalError)) throw error;
  err(shown(`platform-sync: ${error.message}; nothing was requested`));
  err('to publish it under its own name: --as NAME; to publish it here anyway: --force');
  return { json: { ...error.failure, published: false }, words: [], ended: 'incomplete' };
}
