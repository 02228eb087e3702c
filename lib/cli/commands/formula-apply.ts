import { createReadStream } from 'node:fs';
import { printJson } from '../../base/json/index.ts';
import { analyzeFormula, judgeFormula } from '../../formula/index.ts';
import { columnsOfRuns, describedRecords, describeNodes, lastRuns, openModel } from '../../model/index.ts';
import { adjacencyOf, lowerCase, reach, thing } from '../../model/rules/index.ts';
import { idDigits } from '../../platform/index.ts';
import { type Money, maxCostWords, moneyFor } from '../../prices.ts';
import { readSettings, readSyncSettings } from '../../settings.ts';
import type { Store } from '../../store/index.ts';
import { type OddRows, openTableFile } from '../../text/index.ts';
import type { FlagsOf, Run } from '../command.ts';
import { oneGiven, UsageError } from '../errors/usage-error.ts';
import { MAX_LINES, type SetRow, storeChangeSet, withFormulasBefore } from '../formula/change-set.ts';
import { checkedJobs, reportOdd, warnOf } from '../jobs/job-files.ts';
import { commandLine } from '../options/command-lines.ts';
import { checkFile, confirmedEncoding } from '../options/files.ts';
import { openStoreOf } from '../options/from-settings.ts';
import {
  type CommandResult,
  counted,
  firstOf,
  inColumns,
  shown,
  type Terminal,
} from '../terminal/terminal.ts';
import { runAll } from './run.ts';
import { sendAll } from './submit.ts';

type TableOptions = Parameters<typeof openTableFile>[1];

type ChangeSet = Parameters<typeof storeChangeSet>[1];

/**
 * Reads a CSV with the columns `id` and `expression`, and optionally `name` and `was`. Returns its rows and the
 * warnings about its formulas. Throws `UsageError` with every fault: an invalid or repeated id, a formula that does
 * not parse, or with `strict` a formula that has a warning.
 */
async function readSetRows(
  file: string,
  options: Pick<TableOptions, 'encoding' | 'separator' | 'wholeRows'> & {
    readonly strict?: boolean | undefined;
  },
  terminal: Terminal,
) {
  const { strict, ...given } = options;
  await checkFile(file);
  const encoding = await confirmedEncoding(file, given.encoding, terminal);
  const read = { faults: [] as string[], odd: { blank: 0, short: 0 } as OddRows };
  const { faults } = read;
  const warnings: string[] = [];
  const rows = new Map<string, SetRow>();
  for await (const { line, cells } of cellsOf({ ...given, name: file, encoding }, read)) {
    const id = idDigits(cells['id'] ?? '');
    const { name, expression = '', was } = cells;
    const judged = judgeFormula(expression, 'expression', strict);
    const wrong = [
      ...(id === undefined
        ? [`id: expected the digits of an integer, got ${JSON.stringify(cells['id'])}`]
        : []),
      ...(id !== undefined && rows.has(id) ? [`id: calculation ${id} is in an earlier row already`] : []),
      ...judged.faults,
      ...(was ? judgeFormula(was, 'was').faults : []),
    ];
    faults.push(...wrong.map((fault) => `line ${line}: ${fault}`));
    warnings.push(...judged.warnings.map((warning) => `line ${line}: ${warning}`));
    if (id !== undefined) rows.set(id, { id, name: name || null, expression, was: was || null });
  }
  if (rows.size === 0) faults.push('expected at least one row, got none');
  if (faults.length > 0)
    throw new UsageError(
      `${file}: the file has faults; nothing was sent:\n${firstOf(faults, MAX_LINES).join('\n')}`,
    );
  return { rows: [...rows.values()], warnings, odd: read.odd };
}

async function* cellsOf(
  options: Omit<TableOptions, 'requested'> & { readonly name: string },
  read: { readonly faults: string[]; odd: OddRows },
) {
  const columns = { requested: ['id', 'expression'], optional: ['name', 'was'] };
  await using table = await openTableFile(createReadStream(options.name), { ...options, ...columns });
  for await (const row of table.rows())
    if ('fault' in row) read.faults.push(`line ${row.line}: ${row.fault}`);
    else {
      const cells = table.names.map((name, at) => [name, row.fields[at]] as const);
      yield { line: row.line, cells: Object.fromEntries(cells) as Partial<Record<string, string>> };
    }
  read.odd = table.odd();
}

/** Sets the formulas of a CSV with jobs named `NAME.ID`, or shows what they would change. */
export default (async ([file], flags, terminal) => {
  oneGiven({ '--dry-run': flags.dryRun, '--submit': flags.submit });
  if (flags.markdown && !flags.dryRun)
    throw new UsageError('--markdown needs --dry-run: it prints the table of a dry run');
  const store = await openStoreOf(terminal);
  const read = await readSetRows(file, flags, terminal);
  warnOf(file, read.warnings, terminal);
  reportOdd(file, read.odd, terminal);
  const rows = await withFormulasBefore(store, { ...flags, rows: read.rows, ids: flags.undoFor });
  const { faults, unchecked } = await checkRows(store, rows, terminal.signal);
  if (faults.length > 0)
    throw new UsageError(
      `${file}: ids or names differ from the last snapshot; nothing was sent:\n${firstOf(faults, MAX_LINES).join('\n')}`,
    );
  const set: ChangeSet = { version: 1, name: flags.name, rows: [...rows] };
  const ids = rows.map(({ id }) => id);
  // This is slow, so it is computed only if it is needed.
  const needsAffected = flags.dryRun || flags.maxAffected !== undefined;
  const affected = needsAffected ? await affectedBy(store, ids, terminal.signal) : undefined;
  const isTooMuch = flags.maxAffected !== undefined && (affected?.total ?? Infinity) > flags.maxAffected;
  const { PLATFORM_PRICES: prices } = readSyncSettings(terminal.environment);
  const cost = moneyFor(prices, { 'update-formula': rows.length });
  const dryRun = flags.dryRun && described(set, affected, { ...flags, odd: read.odd, unchecked, cost });
  if (isTooMuch) {
    const got = affected === undefined ? 'an unknown number: no calculations are published' : affected.total;
    terminal.err(
      `--max-affected: expected at most ${flags.maxAffected} things that depend on these formulas, got ${got}; nothing was sent`,
    );
    return dryRun ? { ...dryRun, ended: 'incomplete' } : 'incomplete';
  }
  return dryRun ?? send(file, set, store, { ...flags, odd: read.odd }, terminal);
}) satisfies Run<'formula apply'>;

/** The jobs of a set. They are the same on each call, so no job is sent twice. */
const jobsOf = ({ name, rows }: ChangeSet, strict: true | undefined): string =>
  rows
    .map(({ id, expression }) => {
      const update = { type: 'update-formula', calculationId: id, expression, strict };
      return printJson({ version: 1, id: `${name}.${id}`, ...update });
    })
    .join('\n');

async function send(
  file: string,
  set: ChangeSet,
  store: Store,
  flags: FlagsOf<'formula apply'> & { readonly odd: OddRows },
  terminal: Terminal,
): Promise<CommandResult> {
  const text = jobsOf(set, flags.strict);
  const jobs = await checkedJobs({ file, text }, { undone: 'sent', isChecked: true }, terminal);
  if (!flags.submit) readSettings(terminal.environment);
  // The set is stored before anything is sent, since the old formulas cannot be read afterwards.
  await storeChangeSet(store, set);
  const back = commandLine(['formula', 'undo', set.name]);
  if (!flags.submit) {
    const { name } = set;
    const { encoding, separator, wholeRows } = flags;
    const again = `to set the rest: ${commandLine(['formula', 'apply', file], { name, encoding, separator, wholeRows })}`;
    const facts = { set: name, ...flags.odd };
    const found = await runAll(
      { name, noun: 'formula', jobs, again, facts, maxInvalid: MAX_INVALID },
      terminal,
    );
    terminal.err(`to undo the changes: ${back}`);
    return found;
  }
  terminal.err(`to undo the changes, after the jobs have ended: ${back}`);
  return sendAll(await Array.fromAsync(jobs.rows()), { ...flags, set: set.name }, terminal);
}

/** After this many formulas in a row that the platform stored as INVALID, the remaining ones are not sent. */
const MAX_INVALID = 10;

function described(
  { name, rows }: ChangeSet,
  affected: Awaited<ReturnType<typeof affectedBy>>,
  {
    markdown,
    odd,
    unchecked,
    cost,
  }: Pick<FlagsOf<'formula apply'>, 'markdown'> & {
    readonly odd: OddRows;
    readonly unchecked: ReadonlyMap<string, readonly string[]>;
    readonly cost: Money | undefined;
  },
): CommandResult {
  const all = rows.map((row) => ({
    ...describedRow(row, affected?.byId.get(row.id)),
    unchecked: unchecked.get(row.id) ?? [],
  }));
  const open = all.flatMap(({ id, unchecked: what }) =>
    what.length === 0 ? [] : [`calculation ${id}: not checked: ${what.join(', ')}`],
  );
  const total =
    affected === undefined
      ? 'It is unknown what depends on them: no calculations are published.'
      : `${counted(affected.total, 'other thing')} ${affected.total === 1 ? 'depends' : 'depend'} on them.`;
  const cells = all.map(({ id, name: called, status, dataType, cards, calculations, owners, isSame }) => [
    ...[id, called ?? '', isSame ? 'unchanged' : `${status}, ${dataType}`],
    ...[String(cards ?? '?'), String(calculations ?? '?'), owners.join(', ')],
  ]);
  const heads = ['CALCULATION', 'NAME', 'FORMULA', 'CARDS', 'CALCULATIONS', 'OWNERS'];
  const line = (row: readonly string[]) => `| ${row.map(cellText).join(' | ')} |`;
  const table = markdown
    ? [
        '',
        line(heads.map((head) => head.toLowerCase())),
        `|${heads.map(() => '---|').join('')}`,
        ...cells.map(line),
      ]
    : inColumns(heads, cells);
  return {
    json: { set: name, dryRun: true, rows: all, ...odd, affected: affected?.total ?? null, cost },
    words: [
      `${name}: ${counted(rows.length, 'formula')} would be set; nothing was sent. ${total}`,
      ...maxCostWords(cost),
      ...table,
      ...firstOf(open, MAX_LINES),
    ],
  };
}

/** Escapes a string for a cell of a Markdown table, so that markup and mentions in it have no effect. */
const cellText = (text: string): string =>
  shown(text.replaceAll(/\s+/g, ' ')).replaceAll(/[\\`*_{}[\]<>()#|~!@]/g, '\\$&');

function describedRow({ id, name, expression, was }: SetRow, affected: Affected | undefined) {
  const { analysis, checkSum, warnings } = judgeFormula(expression, 'expression');
  return {
    id,
    name,
    status: lowerCase(analysis.status),
    checkSum,
    warnings,
    mayBeUndone: was !== null,
    isSame: was === expression,
    dataType: analysis.status === 'VALID' ? analysis.dataType : null,
    cards: affected?.cards ?? null,
    calculations: affected?.calculations ?? null,
    owners: affected?.owners ?? [],
  };
}

/** What depends on a calculation, directly or indirectly. */
type Affected = {
  readonly cards: number;
  readonly calculations: number;
  /** The owners of the calculation and of what depends on it, by the id or name in the records; sorted. */
  readonly owners: readonly string[];
};

/** Maximum calculations and dependents whose owners are looked up. */
const MAX_OWNED = 100_000;

/**
 * What depends on the calculations `ids`, according to the last published runs: by id, and the total number of things
 * that depend on them but are not among them. Undefined if no calculations are published.
 */
async function affectedBy(store: Store, ids: readonly string[], signal: AbortSignal) {
  const { model, columns, runs } = await openModel({
    store,
    now: Date.now,
    addFault: () => undefined,
    signal,
  });
  if (!runs.some(({ source }) => source === 'calculations')) return undefined;
  const { things, graph } = model;
  const users = adjacencyOf({ nodes: things.count, from: graph.used, to: graph.user });
  const starts = ids.flatMap((id) => {
    const known = thing('calculation', id);
    const node = known === undefined ? undefined : things.find(known);
    return node === undefined ? [] : [[id, node] as const];
  });
  const reached = starts.map(([id, node]) => ({ id, nodes: [...reach(users, [node]).nodes], node }));
  const owned = new Set(reached.flatMap(({ node, nodes }) => [node, ...nodes]).slice(0, MAX_OWNED));
  const descriptions = await describeNodes(model, columns, owned);
  const outside = new Set(reached.flatMap(({ nodes }) => nodes));
  for (const [, node] of starts) outside.delete(node);
  const byId = new Map<string, Affected>();
  for (const { id, node, nodes } of reached) {
    const count = (kind: string) => nodes.filter((each) => things.kindAt(each) === kind).length;
    const owners = new Set([node, ...nodes].flatMap((each) => descriptions.get(each)?.owner ?? []));
    byId.set(id, {
      cards: count('card'),
      calculations: count('calculation'),
      owners: [...owners].toSorted(),
    });
  }
  return { byId, total: outside.size };
}

/**
 * Compares the ids and names of rows with the last published calculations. `faults`: ids that a complete snapshot
 * lacks, and names that belong to another calculation. `unchecked`: what could not be checked, by id.
 */
async function checkRows(store: Store, rows: readonly SetRow[], signal: AbortSignal) {
  const { runs } = await lastRuns(store, ['calculations'], () => undefined);
  const columns = columnsOfRuns({ store, runs, signal });
  const ids = new Set(rows.map(({ id }) => id));
  const wanted = new Set(rows.map(({ name }) => name));
  const names = new Map<string, string | null>();
  const owners = new Map<string, readonly string[]>();
  for await (const group of describedRecords(columns))
    for (const { id, name } of group) {
      if (ids.has(id)) names.set(id, name);
      if (name !== null && wanted.has(name)) owners.set(name, [...(owners.get(name) ?? []), id]);
    }
  const isWhole = columns.calculations?.isWhole === true;
  const faults = rows.flatMap(({ id, name }) => {
    const known = names.get(id);
    if (known === undefined && isWhole)
      return [`calculation ${id} is not in the last snapshot; if it is new, take a snapshot first`];
    const [owner, ...others] = (name === null || known === name ? undefined : owners.get(name)) ?? [];
    if (owner === undefined || known === undefined) return [];
    const quoted = JSON.stringify(name);
    const named =
      others.length === 0
        ? `${quoted} is calculation ${owner}`
        : `${others.length + 1} calculations are named ${quoted}, such as ${owner}`;
    return [`calculation ${id} has the name ${JSON.stringify(known)}; ${named}`];
  });
  const unchecked = new Map(
    rows.map((row) => [row.id, [...(names.has(row.id) ? [] : ['id', 'name']), ...newColumns(row)]]),
  );
  return { faults, unchecked };
}

/** Columns that the earlier formula does not use, so it is unknown whether the calculation's dataset has them. */
function newColumns({ expression, was }: SetRow): readonly string[] {
  const known = new Set(analyzeFormula(was ?? '').columns);
  return analyzeFormula(expression)
    .columns.filter((name) => !known.has(name))
    .map((name) => `column ${name}`);
}
