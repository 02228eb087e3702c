import { clearAfter } from '../../snapshot/history/clear-work.ts';
import { findPublished } from '../../snapshot/history/find-published.ts';
import type { Place } from '../../snapshot/keys.ts';
import type { Publication } from '../../snapshot/publish/publish.ts';
import type { Warn } from '../../snapshot/publish/warn.ts';
import { StoredObjectError } from '../../store/index.ts';
import { defineCommand } from '../command.ts';
import { asUsage } from '../errors/usage-error.ts';
import { snapshotCommand } from '../options/command-lines.ts';
import { openStoreToRead } from '../options/from-settings.ts';
import { placeArgument, runArgument } from '../options/place-argument.ts';
import { showPublication } from '../snapshots/show-publication.ts';
import { NO_TABLES, type TablesFlag, tablesAfter } from '../snapshots/tables-after.ts';
import { withWayOut } from '../snapshots/with-way-out.ts';
import { shownLines, type Terminal } from '../terminal/terminal.ts';

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
  const warn: Warn = (what, reason) => terminal.err(shownLines(`warning: ${what}: ${reason.message}`));
  async function shown(publication: Publication): Promise<number> {
    const code = showPublication(publication, store, flags, terminal);
    await tablesAfter(publication, store, flags, terminal);
    return code;
  }
  const resumed = `to finish a run that was stopped: ${snapshotCommand(source, run)}`;
  const found = withWayOut(resumed, readFinishedRun(store, source, run));
  const finished = await found.catch(async (error: unknown) => {
    const published = isMissing(error)
      ? await findPublished(store, source, run).catch(asRunUsage)
      : undefined;
    return published ?? asRunUsage(error);
  });
  // In a directory nothing else is left of it.
  if ('kind' in finished) return await shown(finished);
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
  return await shown(publication);
}

const isMissing = (error: unknown) => error instanceof StoredObjectError && error.kind === 'missing';

function asRunUsage(error: unknown): never {
  throw asUsage('run', error);
}
