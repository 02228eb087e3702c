import { clearAfter } from '../../snapshot/history/clear-work.ts';
import { findPublished } from '../../snapshot/history/find-published.ts';
import type { Place } from '../../snapshot/keys.ts';
import { StoredObjectError } from '../../store/index.ts';
import { defineCommand } from '../command.ts';
import { asUsage, withWayOut } from '../errors/usage-error.ts';
import { snapshotCommand } from '../options/command-lines.ts';
import { openStoreToRead } from '../options/from-settings.ts';
import { placeArgument, runArgument } from '../options/options.ts';
import { endWith, NO_TABLES, type TablesFlag } from '../snapshots/show-publication.ts';
import { type Terminal, warnOn } from '../terminal/terminal.ts';

/** `publish SOURCE RUN`: publishes a finished run that was refused. */
export const publish = defineCommand({
  does: 'Publish a finished run that was refused.',
  arguments: [
    ['<source>', 'the source of the run, or SOURCE.NAME if it has a place of its own', placeArgument],
    ['<run>', 'the run, such as 20261121T091500Z-3fa9c1', runArgument],
  ],
  options: [
    ['--force', 'publish even if a gate refuses; the manifest says so'],
    NO_TABLES,
    ['--json', 'print the manifest, and whether the run was published, as one JSON value'],
  ],
  examples: ['publish calculations 20261121T091500Z-3fa9c1 --force'],
  run: ([source, run], flags, terminal) => publishAgain(source, run, flags, terminal),
});

type PublishFlags = TablesFlag & { readonly force?: true; readonly json?: true };

async function publishAgain(
  source: Place,
  run: string,
  flags: PublishFlags,
  terminal: Terminal,
): Promise<number> {
  const store = await openStoreToRead(terminal);
  const { publishRun, readFinishedRun } = await import('../../snapshot/publish/publish.ts');
  const warn = warnOn(terminal);
  const resumed = `to finish a run that was stopped: ${snapshotCommand(source, run)}`;
  const found = withWayOut(resumed, readFinishedRun(store, source, run));
  const finished = await found.catch(async (error: unknown) => {
    const published = isMissing(error)
      ? await findPublished(store, source, run).catch(asRunUsage)
      : undefined;
    return published ?? asRunUsage(error);
  });
  // In a directory nothing else is left of it.
  if ('kind' in finished) return await endWith(finished, store, flags, terminal);
  const publishing = publishRun({
    store,
    source,
    run: { id: run, startedAt: finished.startedAt },
    finished,
    force: flags.force === true,
    warn,
  });
  const newRun = `if it is gone for good, take a new run: ${snapshotCommand(source)} …`;
  const publication = await withWayOut(newRun, publishing);
  if (publication.kind === 'published') await clearAfter(store, source, warn);
  return await endWith(publication, store, flags, terminal);
}

const isMissing = (error: unknown) => error instanceof StoredObjectError && error.kind === 'missing';

function asRunUsage(error: unknown): never {
  throw asUsage('run', error);
}
