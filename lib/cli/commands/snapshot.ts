import type { AddCommand } from '../command.ts';
import { createProgress } from '../progress.ts';
import { openSession } from '../session.ts';
import { describePublication } from '../show-publication.ts';
import { exitCodes, shownLines, type Terminal } from '../terminal.ts';

type SnapshotFlags = { readonly force?: true; readonly json?: true };

/** `snapshot SOURCE`: takes all records of a source into the store and publishes them. */
export const addSnapshot: AddCommand = (program, terminal, finish) => {
  const snapshot = program.command('snapshot').description('Take all records of a source into the store.');
  snapshot
    .command('calculations')
    .description('All calculations.')
    .option('--force', 'publish although a gate refused; the manifest says so')
    .option('--json', 'print the manifest as one JSON value')
    .action(async (flags: SnapshotFlags) => finish(await takeCalculations(flags, terminal)));
};

async function takeCalculations(flags: SnapshotFlags, terminal: Terminal): Promise<number> {
  const { settings, platform, callCounts, store } = openSession(terminal);
  // Loaded here, so that the other commands start without it.
  const { snapshotCalculations } = await import('../../snapshot/take-snapshot.ts');
  const { sleep } = await import('../../pace/sleep.ts');
  const progress = createProgress('calculations', {
    err: terminal.err,
    now: performance.now.bind(performance),
  });
  const target = await store();
  const publication = await snapshotCalculations({
    call: platform.call,
    store: target,
    compression: settings.SYNC_COMPRESSION,
    platform: new URL(settings.PLATFORM_BASE_URL).host,
    callCounts,
    force: flags.force === true,
    onProgress: progress,
    now: Date.now,
    random: Math.random,
    sleep,
    signal: terminal.signal,
  });
  const { kind, manifest } = publication;
  terminal.out(
    flags.json
      ? JSON.stringify(manifest, undefined, 2)
      : shownLines(describePublication(publication, target)),
  );
  if (flags.json && kind !== 'published') terminal.err(shownLines(describePublication(publication, target)));
  return kind === 'published' ? exitCodes.done : exitCodes.incomplete;
}
