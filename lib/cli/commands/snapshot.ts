import type { Command } from 'commander';
import { placeOf } from '../../snapshot/keys.ts';
import { type Source, sourceDefinitions, sources } from '../../snapshot/sources/sources.ts';
import type { AddCommand, Finish } from '../command.ts';
import { addExpectMissing, type ExpectFlags, readExpected } from '../expected-missing.ts';
import { runOrLast } from '../place-argument.ts';
import { addRequestOptions, checkPlaceName, optionsGiven, readRequest } from '../request-options.ts';
import type { RunFlags, RunToTake } from '../run-snapshot.ts';
import { NO_TABLES } from '../tables-after.ts';
import type { Terminal } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';

/** `snapshot SOURCE`: copies all records of a source into the store and publishes them. */
export const addSnapshot: AddCommand = (program, terminal, finish) => {
  const snapshot = program
    .command('snapshot')
    .description('Copy all records of a source into the store, and publish them.');
  for (const source of sources) addSource(snapshot.command(source), source, terminal, finish);
};

type SnapshotFlags = Pick<RunFlags, 'force' | 'json' | 'tables'> &
  ExpectFlags & { readonly as?: string; readonly resume?: string };

function addSource(command: Command, source: Source, terminal: Terminal, finish: Finish): void {
  command.description(sourceDefinitions[source].takes);
  addRequestOptions(command, source);
  addExpectMissing(command)
    .option('--as <name>', 'give a narrowed snapshot a place of its own: SOURCE.NAME/')
    .option('--resume <run>', 'resume a run that was stopped; last: the one that started last', runOrLast)
    .option('--force', 'publish even if a gate refuses; the manifest says so')
    .option(...NO_TABLES)
    .option('--json', 'print the manifest, and whether the run was published, as one JSON value')
    .action(async (flags: SnapshotFlags) => {
      const isExpected = await readExpected(flags, terminal);
      const taken = await runToTake(command, source, flags, terminal);
      // Loaded only when it is needed, so that the other commands start without it.
      const { runSnapshot } = await import('../run-snapshot.ts');
      finish(await runSnapshot(taken, { ...flags, isExpected }, terminal));
    });
}

async function runToTake(
  command: Command,
  source: Source,
  { as, resume: run }: SnapshotFlags,
  { readInput }: Terminal,
): Promise<RunToTake> {
  if (run === undefined) return { kind: 'new', ...(await readRequest(command, source, { as, readInput })) };
  const given = optionsGiven(command, source);
  if (given.length > 0)
    throw new UsageError(
      `--resume: expected nothing else that selects records, since the run already has its selection, got ${given.join(', ')}`,
    );
  return { kind: 'resumed', place: placeOf(source, checkPlaceName(as)), run };
}
