import { readSyncSettings } from '../../settings.ts';
import type { Place } from '../../snapshot/keys.ts';
import type { AddCommand } from '../command.ts';
import { openStoreOf } from '../open-store-of.ts';
import { placeArgument, runArgument } from '../place-argument.ts';
import { showPublication } from '../show-publication.ts';
import { shownLines, type Terminal } from '../terminal.ts';
import { asUsage } from '../usage-error.ts';

type PublishFlags = { readonly force?: true; readonly json?: true };

/** `publish SOURCE RUN`: publishes a finished run that was refused. */
export const addPublish: AddCommand = (program, terminal, finish) => {
  program
    .command('publish')
    .description('Publish a finished run that was refused.')
    .argument('<source>', 'the source of the run, or SOURCE.NAME if it has a place of its own', placeArgument)
    .argument('<run>', 'the run, such as 20261121T091500Z-3fa9c1', runArgument)
    .option('--force', 'publish even if a gate refuses; the manifest says so')
    .option('--json', 'print the manifest as one JSON value')
    .action(async (source: Place, run: string, flags: PublishFlags) =>
      finish(await publish(source, run, flags, terminal)),
    );
};

async function publish(source: Place, run: string, flags: PublishFlags, terminal: Terminal): Promise<number> {
  const { SYNC_GLUE_DATABASE: database } = readSyncSettings(terminal.environment);
  const store = await openStoreOf(terminal.environment);
  const { openPartitions } = await import('../../snapshot/publish/open-partitions.ts');
  const { publishRun, readFinishedRun } = await import('../../snapshot/publish/publish.ts');
  const finished = await readFinishedRun(store, source, run).catch((error: unknown) => {
    throw asUsage('run', error);
  });
  const publication = await publishRun({
    store,
    source,
    run: { id: run, startedAt: finished.startedAt },
    finished,
    force: flags.force === true,
    partitions: openPartitions({ database, store, environment: terminal.environment }),
    warn: (what, reason) => terminal.err(shownLines(`warning: ${what}: ${reason.message}`)),
  });
  return showPublication(publication, store, flags, terminal);
}
