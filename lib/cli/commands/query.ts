import { join } from 'node:path';
import { stateFolder } from '../../locations.ts';
import { savedQueries } from '../../tables/catalog/index.ts';
import { openTables, savedSql, type Tables } from '../../tables/index.ts';
import type { FlagsOf, Run } from '../command.ts';
import { oneGiven, UsageError } from '../errors/usage-error.ts';
import { readText } from '../options/files.ts';
import { openStoreOf } from '../options/from-settings.ts';
import { printResult } from '../query/print-result.ts';
import { listSaved, runPrompt } from '../query/prompt.ts';
import { type ExitStatus, shown, type Terminal } from '../terminal/terminal.ts';

type QueryFlags = FlagsOf<'query'>;

/** Runs SQL on what is stored, or opens the prompt if there is no SQL. Needs only the store, not the platform. */
export default (async ([words], typed, terminal) => {
  // In `query --csv SQL`, commander takes the SQL for the file name of `--csv`.
  const isSql = words === undefined && typed.saved === undefined && typeof typed.csv === 'string';
  const [given, flags] = isSql ? [String(typed.csv), { ...typed, csv: true as const }] : [words, typed];
  checkFlags(given, flags);
  if (flags.saved === true) return { json: savedQueries(), words: listSaved() };
  const sql = await sqlOf(given, flags, terminal);
  const store = await openStoreOf(terminal, flags.at);
  await using tables = await openTables(store, {
    atMs: flags.at,
    memoryMb: flags.memory,
    diskBytes: flags.disk * 1e9,
  });
  if (sql !== undefined) return await runOne(sql, flags, { tables, terminal });
  const { dialog, signal, environment } = terminal;
  if (dialog === undefined) throw noQuery();
  const historyFile = join(stateFolder(environment), 'query-history');
  return await runPrompt({ tables, dialog, signal, seconds: flags.seconds, historyFile });
}) satisfies Run<'query'>;

/** The SQL to run; undefined for the prompt. */
async function sqlOf(
  given: string | undefined,
  { saved, ...format }: QueryFlags,
  { dialog, readInput }: Terminal,
): Promise<string | undefined> {
  if (typeof saved === 'string') return savedSql(saved);
  if (given === '-') return readText('-', { readInput });
  const needsSql = dialog === undefined || format.json || format.csv || format.parquet !== undefined;
  if (given === undefined && needsSql) throw noQuery();
  return given;
}

const noQuery = () => new UsageError('expected a query as SQL or --saved NAME, got nothing');

function checkFlags(given: string | undefined, { saved, json, csv, parquet }: QueryFlags): void {
  oneGiven({ '--json': json, '--csv': csv, '--parquet': parquet });
  oneGiven({ SQL: given, '--saved': saved });
}

async function runOne(
  sql: string,
  flags: QueryFlags,
  { tables, terminal }: { readonly tables: Tables; readonly terminal: Terminal },
): Promise<ExitStatus> {
  await using result = await tables.query(sql, {
    signal: terminal.signal,
    seconds: flags.seconds,
    onReading: terminal.err,
  });
  await printResult(result, flags, terminal).catch((error: unknown) => {
    // The reader closed the pipe, as `| head` does.
    if (terminal.outputFault?.()?.kind !== 'closed') throw error;
  });
  for (const note of result.notes) terminal.err(shown(note));
  for (const fault of result.faults) terminal.err(`not in the result: ${shown(fault)}`);
  return result.faults.length > 0 ? 'incomplete' : 'done';
}
