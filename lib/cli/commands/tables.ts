import { needClients } from '../../base/aws/index.ts';
import { readSyncSettings } from '../../settings.ts';
import { buildTables, openPartitions, type TableOutcome, type TablesToBuild } from '../../tables/index.ts';
import type { Run } from '../command.ts';
import { openStoreOf } from '../options/from-settings.ts';
import { counted, number, shown, type Terminal, warnOn } from '../terminal/terminal.ts';

/** Builds the tables of published runs that do not have them yet. Needs only the store, not the platform. */
export default (async ([places], { json }, terminal) => {
  const store = await openStoreOf(terminal);
  const outcomes: TableOutcome[] = [];
  const wanted = { store, places: places.length === 0 ? undefined : places, warn: warnOn(terminal) };
  for await (const outcome of buildTablesHere(wanted, terminal)) {
    outcomes.push(outcome);
    if (!json) say(outcome, terminal);
  }
  terminal.signal.throwIfAborted();
  const skipped = outcomes.filter(({ kind }) => kind === 'skipped');
  const ended = skipped.length > 0 ? 'incomplete' : 'done';
  return { json: outcomes, words: outcomes.length === 0 ? 'nothing is missing' : [], ended };
}) satisfies Run<'tables'>;

/** Builds tables, and adds partitions if a database is set, until the command is stopped. */
export function buildTablesHere(
  wanted: Omit<TablesToBuild, 'partitions' | 'isOver' | 'signal'>,
  { environment, signal }: Terminal,
) {
  const { SYNC_GLUE_DATABASE: database } = readSyncSettings(environment);
  needClients(environment, ['SYNC_GLUE_DATABASE']);
  const partitions = openPartitions({ database, store: wanted.store, environment });
  return buildTables({ ...wanted, partitions, isOver: () => signal.aborted, signal });
}

function say(outcome: TableOutcome, { out, err }: Terminal): void {
  const name = `${outcome.group} ${outcome.name}`;
  if (outcome.kind === 'skipped') err(shown(`skipped ${name}: ${outcome.why}`));
  if (outcome.kind !== 'made') return;
  const { files, records, other } = outcome;
  const unfit = other === 0 ? '' : `, ${number(other)} values in _other`;
  out(shown(`${name}: ${counted(files, 'file')}, ${number(records)} rows${unfit}`));
}
