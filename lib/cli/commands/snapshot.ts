import type { Command } from 'commander';
import type { Settings } from '../../settings.ts';
import {
  beginRun,
  findStopped,
  OtherPlatformError,
  type Publication,
  resumeRun,
  type Saved,
} from '../../snapshot/index.ts';
import { readGates, type Source } from '../../snapshot/sources/index.ts';
import type { Store } from '../../store/index.ts';
import type { FlagsOf, Run } from '../command.ts';
import { asUsage, UsageError, withRemedy } from '../errors/usage-error.ts';
import { snapshotCommand } from '../options/command-lines.ts';
import { openSessionOf } from '../options/from-settings.ts';
import { readRequest, typedOptionNames } from '../options/request-options.ts';
import { endWith } from '../snapshots/show-publication.ts';
import { foundRefused, takeHere } from '../snapshots/take-here.ts';
import { printCommandResult, type Terminal } from '../terminal/terminal.ts';

/** Takes or resumes a run of the command's source, publishes it and shows it. */
export default (async (_, given, terminal, command) => {
  const flags = { ...given, countsMissing: true };
  const open = await runToOpen(command, command.name() as Source, given, terminal);
  // The session reserves one slot at a time, since a snapshot can wait and must not delay jobs.
  const session = openSessionOf(terminal, { reserve: 'single' });
  const { settings } = session;
  // Throws for an invalid setting before the run begins.
  readGates(settings.SYNC_GATES);
  const store = await session.store();
  const force = given.force === true;
  const platform = new URL(settings.PLATFORM_BASE_URL).host;
  const compression = settings.SYNC_COMPRESSION;
  const saved = await open({ store, platform, compression, force }).catch((error: unknown) =>
    foundRefused(error, terminal),
  );
  if ('words' in saved) return printCommandResult(saved, given.json, terminal);
  // The run was published before.
  if ('kind' in saved) return await endWith(saved, store, flags, terminal);
  const isResumed = given.resume !== undefined;
  const publication = await takeHere(saved, { session, store, force, isResumed }, terminal);
  return await endWith(publication, store, flags, terminal);
}) satisfies Run<'snapshot calculations'>;

type RunContext = {
  readonly store: Store;
  /** The host of the platform. */
  readonly platform: string;
  readonly compression: Settings['SYNC_COMPRESSION'];
  readonly force: boolean;
};

/**
 * Checks the arguments. Returns a function that begins a new run, or opens the run to resume; if that run has already
 * ended, the function returns its publication.
 */
async function runToOpen(
  command: Command,
  source: Source,
  { as, resume: run }: FlagsOf<'snapshot calculations'>,
  { readInput, signal }: Terminal,
): Promise<(opened: RunContext) => Promise<Saved | Publication>> {
  if (run === undefined) {
    const { request, idsFrom } = await readRequest(command, source, { as, readInput });
    return (opened) => beginRun(request, { ...opened, idsFrom, now: Date.now, random: Math.random, signal });
  }
  const given = typedOptionNames(command, source);
  if (given.length > 0)
    throw new UsageError(
      `--resume: the run already has its selection: expected no other options that select records, got ${given.join(', ')}`,
    );
  return async ({ store, platform }) => {
    const found = await findStopped({ store, source, as, run });
    return await resume({ store, platform, ...found });
  };
}

/** Finds the run to resume, or its publication if it has ended. Throws `UsageError` if no run can be resumed. */
async function resume(
  found: Awaited<ReturnType<typeof findStopped>> & Pick<RunContext, 'store' | 'platform'>,
): Promise<Saved | Publication> {
  const { store, place, run } = found;
  const newRun = `to start a new run: ${snapshotCommand(place)} …`;
  if (run === undefined)
    throw new UsageError(
      `--resume last: ${store.location} has no run of ${place} that was stopped; ${newRun}`,
    );
  try {
    return await withRemedy(newRun, resumeRun({ ...found, run }));
  } catch (error) {
    throw error instanceof OtherPlatformError
      ? new UsageError(`--resume: ${error.message}; ${newRun}`, { cause: error })
      : asUsage('--resume', error);
  }
}
