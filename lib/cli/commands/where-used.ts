import { shortened } from '../../base/index.ts';
import { type FindableKind, type WhereUsed, whereUsed } from '../../report/index.ts';
import type { Run } from '../command.ts';
import { asUsage, UsageError } from '../errors/usage-error.ts';
import { openStoreOf } from '../options/from-settings.ts';
import { DEFAULT_DEPENDENTS, DEFAULT_LISTED_JSON } from '../options/options.ts';
import { counted, duration, number, shown } from '../terminal/terminal.ts';

/** Shows what depends on a thing or a column, according to the last published runs. */
export default (async ([id], { kind, dataset, hops, at, limit, json }, terminal) => {
  if (id.trim() === '') throw new UsageError('expected an id, got an empty string');
  if (dataset?.trim() === '') throw new UsageError('--dataset: expected the id of a dataset, got nothing');
  if (dataset !== undefined && kind !== undefined && kind !== 'column')
    throw new UsageError(
      `--dataset is only for a column: expected no --kind or --kind column, got --kind ${kind}`,
    );
  const store = await openStoreOf(terminal, at);
  const maxListed = limit ?? (json ? DEFAULT_LISTED_JSON : DEFAULT_DEPENDENTS);
  // Runs of a past day may have been removed since then.
  const mayLack = at !== undefined;
  const request = { store, id, kind, dataset, hops, maxListed, mayLack, signal: terminal.signal };
  const answer = await whereUsed(request).catch((error: unknown) => {
    throw at === undefined ? error : asUsage('--at', error);
  });
  const outcome = withAges(answer, at ?? Date.now());
  const { found, searched, formulas, notRead } = outcome;
  for (const fault of notRead) terminal.err(shown(`not searched: ${fault}`));
  const requestedKind = dataset === undefined ? kind : 'column';
  if (searched.length === 0)
    throw new Error(`${notFound(id, requestedKind, dataset, outcome)} (${store.location})`);
  if (found.length === 0) throw new UsageError(notFound(id, requestedKind, dataset, outcome));
  const words = [
    ...found.flatMap(describeThing),
    ...knownFormulas(
      outcome,
      found.some(({ kind: of }) => HAS_COLUMNS.has(of)),
    ),
    `searched: ${describeSearch(outcome)}`,
  ];
  return {
    json: {
      id,
      found,
      formulas: formulas ?? null,
      searched,
      unpublished: outcome.unpublished,
      notRead,
    },
    words,
    ended: notRead.length === 0 ? 'done' : 'incomplete',
  };
}) satisfies Run<'where-used'>;

/** The kinds of things whose columns are shown. */
const HAS_COLUMNS: ReadonlySet<FindableKind> = new Set(['dataset', 'calculation', 'column']);

/** The note about how many formulas are known, if a column was searched for or found. */
const knownFormulas = ({ formulasNote }: WhereUsed, mayMatter: boolean): readonly string[] =>
  mayMatter && formulasNote !== undefined ? [formulasNote] : [];

type UsedThing = WhereUsed['found'][number];

type Outcome = ReturnType<typeof withAges>;

/** Adds to each run that was searched its age at `nowMs`. */
const withAges = (outcome: WhereUsed, nowMs: number) => ({
  ...outcome,
  searched: outcome.searched.map((each) => ({
    ...each,
    ageSeconds: Math.max(0, Math.round((nowMs - Date.parse(each.startedAt)) / 1_000)),
  })),
});

function notFound(
  id: string,
  kind: FindableKind | undefined,
  dataset: string | undefined,
  outcome: Outcome,
): string {
  const { searched, notRead, hints } = outcome;
  if (searched.length === 0 && notRead.length === 0)
    return `${id}: nothing has been published that could refer to it`;
  if (searched.length === 0) return `${id}: what could refer to it cannot be read`;
  const meant = hints.map((hint) => `${hint.kind} ${hint.id}${quoted(hint.name)}`);
  const hint = meant.length === 0 ? '' : `; perhaps ${meant.join(', or ')} was meant`;
  const ofDataset = dataset === undefined ? '' : ` of dataset ${dataset}`;
  const what = kind === undefined ? 'nothing' : `no ${kind}${ofDataset}`;
  const known = knownFormulas(outcome, kind === undefined || kind === 'column');
  const has = kind === 'column' ? 'this name' : 'this id';
  return [`${id}: ${what} has ${has} in ${describeSearch(outcome)}${hint}`, ...known].join('\n');
}

/** Lists the runs that were searched, with their ages. */
function describeSearch({ searched, unpublished }: Outcome): string {
  const runs = searched.map(({ place, run, ageSeconds, records, missing }) => {
    const lacks = missing === 0 ? '' : `, ${counted(missing, 'id')} could not be read`;
    return `${place} (run ${run}, ${duration(ageSeconds)} old, ${counted(records, 'record')}${lacks})`;
  });
  return [...runs, ...(unpublished.length === 0 ? [] : [`not published: ${unpublished.join(', ')}`])].join(
    '; ',
  );
}

/** A name in quotation marks, with a space before it; empty if there is no name. */
const quoted = (name: string | null): string =>
  name === null ? '' : ` “${shortened(name, MAX_NAME_LENGTH)}”`;

const MAX_NAME_LENGTH = 100;
const MAX_COLUMNS = 50;

function describeThing(thing: UsedThing): readonly string[] {
  const { kind, id, name, type, owner, fileset, total, hops, columns, formula, isCut, dependents } = thing;
  const facts = [
    ...(type === null ? [] : [type]),
    ...(owner === null ? [] : [`owner ${owner}`]),
    ...(fileset === null ? [] : [`in FileSet ${fileset}`]),
  ];
  const lines = [
    `${kind} ${id}${quoted(name)}${facts.length === 0 ? '' : ` (${facts.join(', ')})`}`,
    `  ${standing(thing)}`,
    `  ${summary(thing)}`,
    ...(formula === null ? [] : [`  formula: ${shown(formula)}`]),
    ...(columns.length === 0 ? [] : [`  columns: ${listed(columns)}`]),
  ];
  for (const [at, count] of hops.entries()) {
    const listed = dependents.filter(({ hop }) => hop === at + 1);
    if (listed.length === 0) break;
    lines.push(`  ${at === 0 ? 'directly' : `${at + 1} hops away`}: ${number(count)}`);
    lines.push(...listed.map((dependent) => `    ${describeDependent(dependent)}`));
  }
  if (total > dependents.length) lines.push(`  and ${number(total - dependents.length)} more (--limit)`);
  if (isCut) lines.push('  and more, beyond --hops');
  return lines;
}

/** The first names, separated by commas, and how many more there are. */
const listed = (names: readonly string[]): string =>
  [
    ...names.slice(0, MAX_COLUMNS),
    ...(names.length > MAX_COLUMNS ? [`and ${names.length - MAX_COLUMNS} more`] : []),
  ].join(', ');

/** Says whether a snapshot has the thing, or only links to it are known. */
function standing({ kind, inSnapshot, links, broken }: UsedThing): string {
  if (kind === 'column') return `${counted(links, 'known formula')} ${links === 1 ? 'uses' : 'use'} it`;
  const byBroken = broken === 0 ? '' : `, ${broken === links ? 'all' : number(broken)} by a broken link`;
  const references = `${counted(links, 'record')} ${links === 1 ? 'refers' : 'refer'} to it${byBroken}`;
  if (inSnapshot)
    return kind === 'file' || kind === 'data-file'
      ? 'in the last snapshot'
      : `in the last snapshot; ${references}`;
  if (kind === 'fileset' || kind === 'file') return `${counted(links, 'file')} in it`;
  const isGone = kind !== 'dataset' || broken === links;
  return `${isGone ? 'not in any snapshot, but' : 'not in a snapshot, but'} ${references}`;
}

const NOT_REPORTED = 'the platform does not report what';

function summary({ kind, total, kinds }: UsedThing): string {
  if (kind === 'file' || kind === 'data-file' || kind === 'fileset')
    return total === 0
      ? `nothing is known to depend on it: ${NOT_REPORTED} depends on it`
      : `${counted(total, 'file')} would be deleted with it; ${NOT_REPORTED} else depends on it`;
  if (total === 0) return 'nothing depends on it';
  const each = Object.entries(kinds).map(([name, count]) => counted(count, name));
  return `${each.join(' and ')} would break without it`;
}

function describeDependent({ kind, id, name, ways, waysTotal }: UsedThing['dependents'][number]): string {
  const more = waysTotal > ways.length ? `, and ${number(waysTotal - ways.length)} more` : '';
  const through = ways.map(describeWay).join(', ');
  return `${kind} ${id}${quoted(name)}  ${through}${more}`;
}

const describeWay = ({
  kind,
  id,
  name,
  relation,
  valid,
}: UsedThing['dependents'][number]['ways'][number]): string =>
  `${relation} ${kind} ${id}${quoted(name)}${valid === null ? '' : ` (broken: ${valid})`}`;
