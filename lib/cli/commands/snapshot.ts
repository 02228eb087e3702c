import type { Command } from 'commander';
import { sleep } from '../../base/index.ts';
import { PlatformError } from '../../platform/index.ts';
import { openSession } from '../../session.ts';
import type { Settings } from '../../settings.ts';
import { findPublished } from '../../snapshot/history/find-published.ts';
import { placesIn } from '../../snapshot/history/places.ts';
import { lastStopped } from '../../snapshot/history/unpublished-runs.ts';
import { type Place, placeOf, sourceOf } from '../../snapshot/keys.ts';
import type { Publication } from '../../snapshot/publish/publish.ts';
import { beginRun, KnownRefusalError, scanOfRun } from '../../snapshot/run/begin-run.ts';
import { hasCheckpoint, readCheckpoint } from '../../snapshot/run/checkpoint.ts';
import type { Saved } from '../../snapshot/run/slice-progress.ts';
import { SnapshotStoppedError } from '../../snapshot/run/snapshot-stopped-error.ts';
import { takeRun } from '../../snapshot/run/take-run.ts';
import { checkPlatform, OtherPlatformError } from '../../snapshot/same-platform.ts';
import type { Source } from '../../snapshot/sources/sources.ts';
import type { Store } from '../../store/index.ts';
import type { FlagsOf, Run } from '../commands.ts';
import { asUsage, UsageError, withWayOut } from '../errors/usage-error.ts';
import { snapshotCommand } from '../options/command-lines.ts';
import { optionsGiven, readRequest } from '../options/request-options.ts';
import { endWith } from '../snapshots/show-publication.ts';
import { createProgress } from '../terminal/progress.ts';
import { type Found, printFound, shown, type Terminal } from '../terminal/terminal.ts';

type SnapshotFlags = FlagsOf<'snapshot calculations'>;

/** Takes or resumes a run of the source that the command names, publishes it and shows it. */
export default (async (_, given, terminal, command) => {
  const flags = { ...given, countsMissing: true };
  const open = await runToOpen(command, command.name() as Source, given, terminal);
  // One slot at a time: a snapshot can wait, and must not keep jobs waiting.
  const session = openSession({ ...terminal, greed: 'one' });
  const { settings, callCounts, paceCounts } = session;
  const store = await session.store();
  const platform = new URL(settings.PLATFORM_BASE_URL).host;
  const saved = await open({
    ...{ store, platform, compression: settings.SYNC_COMPRESSION, force: given.force === true },
  }).catch((error: unknown) => foundRefused(error, terminal));
  if ('words' in saved) return printFound(saved, given.json, terminal);
  // Published before.
  if ('kind' in saved) return await endWith(saved, store, flags, terminal);
  const { source: place, run: id } = saved.checkpoint;
  // Said before the first request, so that whoever kills the process knows what to resume.
  terminal.err(`${place}: ${given.resume === undefined ? 'run' : 'resuming run'} ${id}`);
  const scan = await scanOfRun(saved.checkpoint, { call: session.call, store, sleep });
  const progress = createProgress(place, {
    ...terminal,
    callCounts,
    recordsBefore: saved.checkpoint.records,
  });
  using _held = terminal.awaits?.({ lost: LOST });
  try {
    const publication = await takeRun(saved, scan, {
      ...{ store, platform, callCounts, paceCounts, now: Date.now, random: Math.random },
      ...{ partMs: settings.SYNC_PART_SECONDS * 1_000, force: flags.force === true },
      ...{ onProgress: progress.update, onRead: progress.publishing, signal: terminal.signal },
    });
    progress.end();
    return await endWith(publication, store, flags, terminal);
  } catch (error) {
    progress.end();
    if (error instanceof SnapshotStoppedError && (await canResume(store, error)))
      terminal.err(`stopped; to resume: ${snapshotCommand(place, error.run)}`);
    throw error;
  }
}) satisfies Run<'snapshot calculations'>;

type Opened = {
  readonly store: Store;
  /** The host that the records come from. */
  readonly platform: string;
  readonly compression: Settings['SYNC_COMPRESSION'];
  readonly force: boolean;
};

/** What is known before the first request refuses a run as what was read would. Throws any other error. */
function foundRefused(error: unknown, { err }: Terminal): Found {
  if (!(error instanceof KnownRefusalError)) throw error;
  err(shown(`platform-sync: ${error.message}; nothing was requested`));
  err('to give the snapshot a place of its own: --as NAME; to publish it here all the same: --force');
  return { json: { ...error.failure, published: false }, words: [], ended: 'incomplete' };
}

/**
 * Checks what is typed, and returns what opens the run: a new one, which takes a while if ids have to be found that another
 * source links to, or the one to resume. That returns its publication if it has ended.
 */
async function runToOpen(
  command: Command,
  source: Source,
  { as, resume: run }: SnapshotFlags,
  { readInput, signal }: Terminal,
): Promise<(opened: Opened) => Promise<Saved | Publication>> {
  if (run === undefined) {
    const { request, idsFrom } = await readRequest(command, source, { as, readInput });
    return (opened) => beginRun(request, { ...opened, idsFrom, now: Date.now, random: Math.random, signal });
  }
  const given = optionsGiven(command, source);
  if (given.length > 0)
    throw new UsageError(
      `--resume: expected nothing else that selects records, since the run already has its selection, got ${given.join(', ')}`,
    );
  return async ({ store, platform }) =>
    resume(run, await placeToResume(run, placeOf(source, as), store, as), store, platform);
}

/** What an end at once loses of a run: the rest is resumed. */
const LOST = 'what was read since the last part was stored, which a resumed run reads again';

/**
 * False if the run would only fail again: its request cannot be sent, or the platform responded with 400 before
 * anything was durable.
 */
async function canResume(store: Store, { cause, source, run }: SnapshotStoppedError): Promise<boolean> {
  const failure = cause instanceof PlatformError ? cause.failure : undefined;
  if (failure?.kind === 'input') return false;
  if (failure?.kind !== 'status' || failure.status !== 400) return true;
  // If the checkpoint cannot be read, nobody knows, so the command is shown.
  const records = await readCheckpoint(store, source, run).then(
    ({ checkpoint }) => checkpoint.records,
    () => undefined,
  );
  return records !== 0;
}

/** The place of a run to resume: without `as`, also one that was named after the selection. */
async function placeToResume(run: string, own: Place, store: Store, as: string | undefined): Promise<Place> {
  const all = as === undefined ? await placesIn(store) : [];
  const found: { readonly place: Place; readonly run: string }[] = [];
  for (const place of all.filter((each) => sourceOf(each) === own)) {
    const stopped = run === 'last' ? await lastStopped(store, place) : run;
    if (stopped !== undefined && (await hasCheckpoint(store, place, stopped)))
      found.push({ place, run: stopped });
  }
  return found.sort((a, b) => (a.run < b.run ? 1 : -1))[0]?.place ?? own;
}

/** How far a run came. One that was published leaves no checkpoint in a directory: resuming it finds that it is done. */
async function resume(
  typed: string,
  place: Place,
  store: Store,
  platform: string,
): Promise<Saved | Publication> {
  const newRun = `to take a new run: ${snapshotCommand(place)} …`;
  const run = typed === 'last' ? await lastStopped(store, place) : typed;
  if (run === undefined)
    throw new UsageError(
      `--resume last: expected a run of ${place} in ${store.location} that was stopped, got none; ${newRun}`,
    );
  try {
    const isOpen = await hasCheckpoint(store, place, run);
    const published = isOpen ? undefined : await findPublished(store, place, run);
    if (published !== undefined) return published;
    const saved = await withWayOut(newRun, readCheckpoint(store, place, run));
    checkPlatform(saved.checkpoint, platform);
    return saved;
  } catch (error) {
    throw error instanceof OtherPlatformError
      ? new UsageError(`--resume: ${error.message}; ${newRun}`, { cause: error })
      : asUsage('--resume', error);
  }
}
