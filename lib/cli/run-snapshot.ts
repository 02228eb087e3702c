import { PlatformError } from '../platform/platform-error.ts';
import { openSession } from '../session.ts';
import { type Place, placeOf } from '../snapshot/keys.ts';
import { openPartitions } from '../snapshot/publish/open-partitions.ts';
import { beginRun, type RequestedSnapshot } from '../snapshot/run/begin-run.ts';
import { scanOfRun } from '../snapshot/run/scan-of-run.ts';
import { SnapshotStoppedError } from '../snapshot/run/snapshot-stopped-error.ts';
import { resumeRun, takeRun } from '../snapshot/run/take-run.ts';
import type { Saved } from '../snapshot/run/take-slice.ts';
import type { Store } from '../store/store.ts';
import { sleep } from '../time/sleep.ts';
import { createProgress } from './progress.ts';
import { showPublication } from './show-publication.ts';
import type { Terminal } from './terminal.ts';
import { asUsage, UsageError } from './usage-error.ts';

/** The flags that every `snapshot` command takes. */
export type RunFlags = {
  readonly as?: string;
  readonly resume?: string;
  readonly force?: true;
  readonly json?: true;
};

/** Takes or resumes a run, publishes it, shows it, and answers the exit code. */
export async function runSnapshot(
  request: RequestedSnapshot,
  flags: RunFlags,
  terminal: Terminal,
): Promise<number> {
  if (flags.as !== undefined && !/^[A-Za-z0-9_-]{1,64}$/.test(flags.as)) {
    throw new UsageError(`--as: expected 1 to 64 letters, digits, _ or -, got ${JSON.stringify(flags.as)}`);
  }
  // One slot at a time: a snapshot can wait, and must not keep jobs waiting.
  const session = openSession({ ...terminal, greed: 'one' });
  const store = await session.store();
  const place = placeOf(request.source, flags.as);
  const saved =
    flags.resume === undefined
      ? await beginRun(request, place, {
          store,
          compression: session.settings.SYNC_COMPRESSION,
          now: Date.now,
          random: Math.random,
          signal: terminal.signal,
        })
      : await resume(store, place, flags.resume);
  const scan = await scanOfRun(saved.checkpoint, { call: session.platform.call, store, sleep });
  const progress = createProgress(place, {
    screen: terminal.screen,
    err: terminal.err,
    callCounts: session.callCounts,
    recordsBefore: saved.checkpoint.records,
    now: () => performance.now(),
  });
  try {
    const publication = await takeRun(saved, scan, {
      store,
      platform: new URL(session.settings.PLATFORM_BASE_URL).host,
      callCounts: session.callCounts,
      paceCounts: session.paceCounts,
      force: flags.force === true,
      partitions: openPartitions({
        database: session.settings.SYNC_GLUE_DATABASE,
        store,
        environment: terminal.environment,
      }),
      onProgress: progress.update,
      now: Date.now,
      random: Math.random,
      signal: terminal.signal,
    });
    progress.end();
    return showPublication(publication, store, flags, terminal);
  } catch (error) {
    progress.end();
    if (error instanceof SnapshotStoppedError && (await mayGoOn(store, error))) {
      const as = flags.as === undefined ? '' : ` --as ${flags.as}`;
      terminal.err(`stopped; to go on: platform-sync snapshot ${request.source}${as} --resume ${error.run}`);
    }
    throw error;
  }
}

/**
 * False where the run would come to the same again: the platform cannot be asked for it, or answers 400 before anything
 * of it is durable.
 */
async function mayGoOn(store: Store, { cause, source, run }: SnapshotStoppedError): Promise<boolean> {
  const failure = cause instanceof PlatformError ? cause.failure : undefined;
  if (failure?.kind === 'input') return false;
  if (failure?.kind !== 'status' || failure.status !== 400) return true;
  // Where the checkpoint cannot be read it is not known, and the way on is told.
  const parts = await resumeRun(store, source, run).then(
    ({ checkpoint }) => checkpoint.parts,
    () => undefined,
  );
  return parts !== 0;
}

const resume = (store: Store, place: Place, run: string): Promise<Saved> =>
  resumeRun(store, place, run).catch((error: unknown) => {
    throw asUsage('--resume', error);
  });
