import { readSyncSettings } from '../../settings.ts';
import { findPublished, publishRun, readFinishedRun } from '../../snapshot/index.ts';
import { readGates } from '../../snapshot/sources/index.ts';
import { StoredObjectError } from '../../store/index.ts';
import type { Run } from '../command.ts';
import { asUsage, withRemedy } from '../errors/usage-error.ts';
import { snapshotCommand } from '../options/command-lines.ts';
import { openStoreOf } from '../options/from-settings.ts';
import { endWith } from '../snapshots/show-publication.ts';

/** Publishes a finished run that was refused. */
export default (async ([source, id], flags, terminal) => {
  const gates = readGates(readSyncSettings(terminal.environment).SYNC_GATES);
  const store = await openStoreOf(terminal);
  const resumed = `to finish a run that was stopped: ${snapshotCommand(source, id)}`;
  const found = withRemedy(resumed, readFinishedRun(store, source, id));
  const finished = await found.catch(async (error: unknown) => {
    const isMissing = error instanceof StoredObjectError && error.kind === 'missing';
    const published = isMissing ? await findPublished(store, source, id).catch(asRunUsage) : undefined;
    return published ?? asRunUsage(error);
  });
  // The run was published before.
  if ('kind' in finished) return await endWith(finished, store, flags, terminal);
  const run = { id, startedAt: finished.startedAt };
  const publishing = publishRun({ store, source, run, finished, force: flags.force === true, gates });
  const newRun = `if the run is lost, take a new one: ${snapshotCommand(source)} …`;
  const publication = await withRemedy(newRun, publishing);
  return await endWith(publication, store, flags, terminal);
}) satisfies Run<'publish'>;

function asRunUsage(error: unknown): never {
  throw asUsage('run', error);
}
