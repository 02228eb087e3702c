import type { Command } from 'commander';
import { idDigits } from '../../platform/id.ts';
import type { RequestedSnapshot } from '../../snapshot/run/begin-run.ts';
import type { Selections } from '../../snapshot/selection.ts';
import type { AddCommand, Finish } from '../command.ts';
import { runArgument } from '../place-argument.ts';
import type { RunFlags } from '../run-snapshot.ts';
import { collected, dateOption, filesetOption, idsOf, whereOption } from '../selection-options.ts';
import type { Terminal } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';

/** `snapshot SOURCE`: takes all records of a source into the store and publishes them. */
export const addSnapshot: AddCommand = (program, terminal, finish) => {
  const snapshot = program.command('snapshot').description('Take all records of a source into the store.');
  addCalculations(snapshot, terminal, finish);
  addFiles(snapshot, terminal, finish);
  addCards(snapshot, terminal, finish);
  addDataFiles(snapshot, terminal, finish);
};

/** Flags that say how a run is taken, and not what. `drill` is true unless it is taken away. */
const RUN_FLAGS: readonly string[] = ['as', 'resume', 'force', 'json'] satisfies readonly (keyof RunFlags)[];

async function runSnapshot(request: RequestedSnapshot, flags: RunFlags, terminal: Terminal): Promise<number> {
  const narrowing = Object.entries(flags).filter(
    ([name, value]) => !RUN_FLAGS.includes(name) && !(name === 'drill' && value),
  );
  if (flags.resume !== undefined && narrowing.length > 0) {
    throw new UsageError(
      `--resume: expected nothing else that selects records, since the run has its selection, got ${narrowing.map(([name]) => name).join(', ')}`,
    );
  }
  // Loaded when it is asked for, so that the other commands start without it.
  const { runSnapshot: run } = await import('../run-snapshot.ts');
  return run(request, flags, terminal);
}

const withRunOptions = (command: Command): Command =>
  command
    .option('--as <name>', 'a place of its own for a narrowed snapshot: SOURCE.NAME/')
    .option('--resume <run>', 'go on with a run that was stopped', runArgument)
    .option('--force', 'publish although a gate refused; the manifest says so')
    .option('--json', 'print the manifest as one JSON value');

type CalculationFlags = RunFlags & { readonly name?: string; readonly filter?: readonly string[] };

function addCalculations(snapshot: Command, terminal: Terminal, finish: Finish): void {
  const command = snapshot
    .command('calculations')
    .description('All calculations, or those that the search narrows to (then with --as).')
    .option('--name <text>', 'those whose name the search finds by this text')
    .option(
      '--filter <field>',
      'those that a filter field of the search keeps; may be given again',
      collected,
    );
  withRunOptions(command).action(async (flags: CalculationFlags) => {
    const selection: Selections['calculations'] = {
      ...(flags.name === undefined ? {} : { name: flags.name }),
      ...(flags.filter === undefined ? {} : { filters: [...flags.filter] }),
    };
    if (Object.keys(selection).length > 0 && flags.as === undefined) {
      throw new UsageError(
        '--name and --filter: expected --as NAME with them, so that a part is not taken for the whole, got none',
      );
    }
    finish(await runSnapshot({ source: 'calculations', selection }, flags, terminal));
  });
}

type FileFlags = RunFlags & {
  readonly fileset?: readonly string[];
  readonly directory?: string;
  readonly immediate?: true;
  readonly where?: readonly NonNullable<Selections['files']['where']>[number][];
  readonly since?: string;
  readonly until?: string;
};

function addFiles(snapshot: Command, terminal: Terminal, finish: Finish): void {
  const command = snapshot
    .command('files')
    .description('All files of each FileSet, or those that the search narrows to.')
    .option('--fileset <id>', 'a FileSet; may be given again', filesetOption)
    .option('--directory <path>', 'those below this directory')
    .option('--immediate', 'only those directly in it')
    .option(
      '--where <field:operator:value>',
      'those that a filter keeps; !OPERATOR negates, commas separate the values of IN; may be given again',
      whereOption,
    )
    .option('--since <date>', 'those created at this time or later (ISO 8601)', dateOption)
    .option('--until <date>', 'those created at this time or earlier (ISO 8601)', dateOption);
  withRunOptions(command).action(async (flags: FileFlags) => {
    const { fileset, directory, immediate, where, since, until } = flags;
    if (fileset === undefined && flags.resume === undefined)
      throw new UsageError('--fileset: expected at least one id, got none');
    if (immediate && directory === undefined)
      throw new UsageError('--immediate: expected --directory with it, got none');
    const selection: Selections['files'] = {
      filesets: [...(fileset ?? [])],
      ...(directory === undefined ? {} : { directory }),
      ...(immediate === undefined ? {} : { immediate }),
      ...(where === undefined ? {} : { where: [...where] }),
      ...(since === undefined ? {} : { since }),
      ...(until === undefined ? {} : { until }),
    };
    finish(await runSnapshot({ source: 'files', selection }, flags, terminal));
  });
}

type CardFlags = RunFlags & {
  readonly dataset?: readonly string[];
  readonly datasetsFrom?: string;
  readonly drill: boolean;
};

function addCards(snapshot: Command, terminal: Terminal, finish: Finish): void {
  const command = snapshot
    .command('cards')
    .description(
      'The cards of each dataset; without ids, of every dataset that the last published calculations link to.',
    )
    .option('--dataset <id>', 'a dataset; may be given again', collected)
    .option('--datasets-from <file>', 'datasets from a file, one id a line; - reads standard input')
    .option('--no-drill', 'leave out cards that use a dataset only in a drill');
  withRunOptions(command).action(async (flags: CardFlags) => {
    const ids = await idsOf(flags.dataset, flags.datasetsFrom, terminal);
    const request = {
      source: 'cards',
      selection: { drill: flags.drill },
      ids: ids ?? 'calculations',
      idsFrom: sourceOfIds(flags.datasetsFrom),
    } as const;
    finish(await runSnapshot(request, flags, terminal));
  });
}

type DataFileFlags = RunFlags & { readonly id?: readonly string[]; readonly idsFrom?: string };

function addDataFiles(snapshot: Command, terminal: Terminal, finish: Finish): void {
  const command = snapshot
    .command('data-files')
    .description('The metadata of data files, with their revisions.')
    .option('--id <id>', 'a data file; may be given again', collected)
    .option('--ids-from <file>', 'ids from a file, one a line; - reads standard input');
  withRunOptions(command).action(async (flags: DataFileFlags) => {
    const ids = (await idsOf(flags.id, flags.idsFrom, terminal))?.map(dataFileId);
    if (ids === undefined && flags.resume === undefined)
      throw new UsageError('--id or --ids-from: expected ids, got none');
    const selection = { expand: ['revisions', 'metadata'] };
    finish(
      await runSnapshot(
        { source: 'data-files', selection, ids: ids ?? [], idsFrom: sourceOfIds(flags.idsFrom) },
        flags,
        terminal,
      ),
    );
  });
}

function dataFileId(text: string): string {
  const id = idDigits(text);
  if (id === undefined)
    throw new UsageError(`ids of data files: expected integers, got ${JSON.stringify(text)}`);
  return id;
}

const sourceOfIds = (file: string | undefined) => (file === '-' ? 'standard input' : file);
