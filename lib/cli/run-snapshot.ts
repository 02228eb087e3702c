import { sleep } from '../pace/sleep.ts';
import { PlatformError } from '../platform/platform-error.ts';
import { type Place, placeOf, type Source } from '../snapshot/keys.ts';
import { linkedDatasets } from '../snapshot/linked-datasets.ts';
import { scanOfRun } from '../snapshot/scan-of-run.ts';
import { toldIds } from '../snapshot/selection.ts';
import { SnapshotStoppedError } from '../snapshot/snapshot-stopped-error.ts';
import { storeIds } from '../snapshot/stored-ids.ts';
import type { Saved } from '../snapshot/take-slice.ts';
import { resumeRun, startRun, takeRun } from '../snapshot/take-snapshot.ts';
import type { Store } from '../store/store.ts';
import { createProgress } from './progress.ts';
import { openSession, type Session } from './session.ts';
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

/** What is to be taken. `ids`: for sources that are read id by id; `calculations`: the datasets that those link to. */
export type RequestedSnapshot = {
  readonly source: Source;
  readonly selection: Readonly<Record<string, unknown>>;
  readonly ids?: readonly string[] | 'calculations';
  /** Where given ids came from, in words. */
  readonly idsFrom?: string | undefined;
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
  const session = openSession(terminal);
  const store = await session.store();
  const place = placeOf(request.source, flags.as);
  const saved =
    flags.resume === undefined
      ? await begin(request, place, { session, store, signal: terminal.signal })
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
      force: flags.force === true,
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

type Beginning = { readonly session: Session; readonly store: Store; readonly signal: AbortSignal };

async function begin(
  request: RequestedSnapshot,
  place: Place,
  { session: { settings }, store, signal }: Beginning,
): Promise<Saved> {
  const { ids, idsFrom } = await findIds(request, store, signal);
  const selection =
    ids === undefined ? request.selection : { ...request.selection, ...toldSelection(request, ids) };
  const saved = await startRun(
    { source: place, compression: settings.SYNC_COMPRESSION, selection, idsFrom },
    { store, now: Date.now, random: Math.random },
  );
  if (ids !== undefined) await storeIds(store, place, saved.checkpoint.run, ids);
  return saved;
}

async function findIds({ ids, idsFrom }: RequestedSnapshot, store: Store, signal: AbortSignal) {
  if (ids !== 'calculations') return { ids, idsFrom };
  const linked = await linkedDatasets(store, signal);
  return { ids: linked.ids, idsFrom: `calculations, run ${linked.run}` };
}

/** The ids as the manifest tells them. What was taken from the calculations may differ from night to night. */
function toldSelection({ source, ids: given }: RequestedSnapshot, ids: readonly string[]) {
  const told = given === 'calculations' ? given : toldIds(ids);
  return source === 'cards' ? { datasets: told } : { ids: told };
}
