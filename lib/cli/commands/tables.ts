import { InvalidArgumentError } from 'commander';
import { readSyncSettings } from '../../settings.ts';
import { sources } from '../../snapshot/sources/sources.ts';
import type { TableGroup, TableOutcome } from '../../tables/make/make-tables.ts';
import { defineCommand } from '../command.ts';
import { openStoreToRead } from '../options/from-settings.ts';
import { numberOption, placeArgument } from '../options/options.ts';
import { exitCodes, shown, type Terminal, warnOn } from '../terminal/terminal.ts';
import { counted, inJson, number } from '../terminal/words.ts';

/** `tables [PLACE…]`: makes the tables that are missing. Needs only the store, not the platform. */
export const tables = defineCommand({
  does: 'Make the tables that published runs, scored batches and past days of results lack.',
  arguments: [
    [
      '[place...]',
      `any of ${sources.join(', ')}, SOURCE.NAME, scores, results (default: all)`,
      (text: string, before: readonly TableGroup[] | undefined): readonly TableGroup[] => [
        ...(before ?? []),
        groupArgument(text),
      ],
    ],
  ],
  options: [
    ['--dry-run', 'only list what is missing'],
    [
      '--results-days <n>',
      'how long results stay, in days: older days are left as they are',
      numberOption(1, 100_000),
      90,
    ],
    ['--json', 'print what was done as one JSON value'],
  ],
  examples: ['tables --dry-run', 'tables calculations scores'],
  run: ([groups], flags, terminal) => writeTables(groups, flags, terminal),
});

type TablesFlags = { readonly dryRun?: true; readonly json?: true; readonly resultsDays: number };

function groupArgument(text: string): TableGroup {
  if (text === 'scores' || text === 'results') return text;
  try {
    return placeArgument(text);
  } catch {
    const expected = `one of ${sources.join(', ')}, SOURCE.NAME, scores or results`;
    throw new InvalidArgumentError(`Expected ${expected}, got ${JSON.stringify(text)}.`);
  }
}

async function writeTables(
  groups: readonly TableGroup[],
  { dryRun, json, resultsDays }: TablesFlags,
  terminal: Terminal,
): Promise<number> {
  const isDry = dryRun === true;
  const { environment, signal } = terminal;
  const { SYNC_GLUE_DATABASE: database } = readSyncSettings(environment);
  const store = await openStoreToRead(terminal);
  const { openPartitions } = await import('../../tables/partitions/open-partitions.ts');
  const { makeTables } = await import('../../tables/make/make-tables.ts');
  const outcomes: TableOutcome[] = [];
  const making = makeTables({
    store,
    groups: groups.length === 0 ? undefined : groups,
    partitions: openPartitions({ database, store, environment }),
    resultsDays,
    now: Date.now,
    isOver: () => signal.aborted,
    isDry,
    warn: warnOn(terminal),
    signal,
  });
  for await (const outcome of making) {
    outcomes.push(outcome);
    if (!json) say(outcome, isDry, terminal);
  }
  signal.throwIfAborted();
  const skipped = outcomes.filter(({ kind }) => kind === 'skipped');
  if (json) terminal.out(inJson(outcomes));
  else if (outcomes.length === 0) terminal.out('nothing is missing');
  return skipped.length > 0 ? exitCodes.incomplete : exitCodes.done;
}

function say(outcome: TableOutcome, isDry: boolean, { out, err }: Terminal): void {
  const name = `${outcome.group} ${outcome.name}`;
  if (outcome.kind === 'skipped') err(shown(`skipped ${name}: ${outcome.why}`));
  if (outcome.kind !== 'made') return;
  const { files, records, other } = outcome;
  const unfit = other === 0 ? '' : `, ${number(other)} values in _other`;
  out(shown(`${name}: ${counted(files, 'file')}, ${isDry ? 'missing' : `${number(records)} rows${unfit}`}`));
}
