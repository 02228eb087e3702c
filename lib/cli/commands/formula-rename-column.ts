import { analyzeFormula, quoteColumn } from '../../formula/index.ts';
import { describedFormulas, type Model, openModel } from '../../model/index.ts';
import { canonicalId, IN_SNAPSHOT, partsOfColumn } from '../../model/rules/index.ts';
import { csvHead, csvLine, writeTextFile } from '../../text/index.ts';
import type { Run } from '../command.ts';
import { fileError, UsageError } from '../errors/usage-error.ts';
import { MAX_LINES } from '../formula/change-set.ts';
import { checkedOutputFile } from '../options/files.ts';
import { openStoreOf } from '../options/from-settings.ts';
import { counted, firstOf, shown } from '../terminal/terminal.ts';

const MAX_UNKNOWN = 1_000;
const CSV = { separator: ',' };

/**
 * Writes the change set that renames a column in the known formulas. If other formulas may contain the column, lists
 * them and exits with 3.
 */
export default (async ([given, wanted], { dataset, output }, { err, signal, ...terminal }) => {
  const column = bare(given);
  const to = bare(wanted);
  if (column === '' || to === '' || column === to)
    throw new UsageError(`expected a column and another name for it, got ${JSON.stringify([given, wanted])}`);
  if ((await checkedOutputFile(output)).format !== 'csv')
    throw fileError(`--output ${output}`, 'a name that ends in .csv', 'another ending');
  const store = await openStoreOf({ err, signal, ...terminal });
  const { model } = await openModel({ store, now: Date.now, signal });
  const formulas = [...describedFormulas(model)];
  const users = usersOf(model, column, dataset);
  const { changed, left } = renamedIn(formulas, users, [column, to]);
  const known = new Set(formulas.map(({ node }) => node));
  const unknown = [...users.mayRead].flatMap((node) =>
    known.has(node) ? [] : model.things.thingAt(node).id,
  );
  for (const line of firstOf(notesOn(users, left, unknown), MAX_LINES)) err(shown(line));
  if (changed.length === 0)
    throw new UsageError(
      `no known formula has the column ${given}${dataset === undefined ? '' : ` of dataset ${dataset}`} in backticks; nothing was written`,
    );
  async function* lines() {
    yield csvHead(['id', 'name', 'expression', 'was'], CSV);
    for (const { id, name, expression, was } of changed)
      yield csvLine([id, name ?? '', expression, was], CSV);
  }
  await writeTextFile(output, lines, { isGzipped: false });
  return {
    json: {
      output,
      changed: changed.map(({ id, name }) => ({ id, name })),
      left,
      unknown: { total: unknown.length, ids: unknown.slice(0, MAX_UNKNOWN) },
    },
    words: `${output}: ${counted(changed.length, 'formula')} renamed, ${left.length} not; text unknown: ${unknown.length}`,
    ended: left.length + unknown.length === 0 ? 'done' : 'incomplete',
  };
}) satisfies Run<'formula rename-column'>;

const notesOn = (
  { datasets }: ReturnType<typeof usersOf>,
  left: ReturnType<typeof renamedIn>['left'],
  unknown: readonly string[],
): readonly string[] => [
  ...(datasets.size > 1
    ? [`${datasets.size} datasets have this column: rename it in each, or choose one with --dataset`]
    : []),
  ...left.map(
    ({ id, name, why }) =>
      `calculation ${id}${name === null ? '' : ` ${JSON.stringify(name)}`}: not renamed: ${why}`,
  ),
  ...unknown.map((id) => `calculation ${id}: its text is unknown`),
];

/** Removes the backticks around a name, if it has any. */
const bare = (name: string): string =>
  name.trim().replace(/^`(.*)`$/s, (_, inner: string) => inner.replaceAll('``', '`'));

const isSame = (a: string, b: string): boolean => canonicalId(a) === canonicalId(b);

type Formulas =
  ReturnType<typeof describedFormulas> extends Iterable<infer Formula> ? readonly Formula[] : never;

/**
 * `changed`: the formulas in which the column can be renamed, with their new text. `left`: the formulas in which it
 * cannot, with the reason.
 */
function renamedIn(
  formulas: Formulas,
  { read, mayRead }: ReturnType<typeof usersOf>,
  [column, to]: readonly [string, string],
) {
  const changed: (Pick<Formulas[number], 'id' | 'name' | 'expression'> & { readonly was: string })[] = [];
  const left: (Pick<Formulas[number], 'id' | 'name'> & { readonly why: string })[] = [];
  for (const { node, id, name, expression: was, status, columns } of formulas) {
    const mayHave =
      status === 'invalid' && mayRead.has(node) && was.toLowerCase().includes(column.toLowerCase());
    if (mayHave) left.push({ id, name, why: 'its text does not parse' });
    if (!read.has(node)) continue;
    const expression = renamed(was, column, to);
    const isOther = !isSame(column, to);
    if (isOther && columns.some((each) => isSame(each, to)))
      left.push({ id, name, why: `it has a column ${quoteColumn(to)} already` });
    else if (isOther && analyzeFormula(expression).columns.some((each) => isSame(each, column)))
      left.push({ id, name, why: `it uses ${column} without backticks` });
    else if (expression !== was) changed.push({ id, name, expression, was });
  }
  return { changed, left };
}

/** Renames a column in a formula, wherever it is in backticks. The rest of the formula stays unchanged. */
const renamed = (text: string, column: string, to: string): string =>
  analyzeFormula(text)
    .columnPositions.filter(({ columnName }) => isSame(bare(columnName), column))
    .reduceRight(
      (all, { columnName, columnPosition: at }) =>
        all.slice(0, at) + quoteColumn(to) + all.slice(at + columnName.length),
      text,
    );

/**
 * `read`: the nodes of the calculations that read a column. `datasets`: the datasets that have the column. `mayRead`:
 * the nodes of the calculations that may read it: all calculations of the dataset, or all if there is no `dataset`.
 */
function usersOf(
  { things, graph: { user, used }, flags }: Model,
  column: string,
  dataset: string | undefined,
) {
  const only = dataset === undefined ? undefined : canonicalId(dataset);
  const found = { read: new Set<number>(), mayRead: new Set<number>(), datasets: new Set<string>() };
  const isCalculation = (node: number) =>
    ((flags[node] ?? 0) & IN_SNAPSHOT) !== 0 && things.kindAt(node) === 'calculation';
  if (only === undefined) for (const node of flags.keys()) if (isCalculation(node)) found.mayRead.add(node);
  for (const [edge, node] of used.entries()) {
    const kind = things.kindAt(node);
    const by = user[edge] ?? 0;
    if (kind !== 'column' && kind !== 'dataset') continue;
    const { id } = things.thingAt(node);
    if (kind === 'dataset' && id === only && isCalculation(by)) found.mayRead.add(by);
    const parts = partsOfColumn(id);
    if (kind === 'dataset' || !isSame(parts.column, column) || (only ?? parts.dataset) !== parts.dataset)
      continue;
    found.read.add(by);
    found.datasets.add(parts.dataset);
  }
  return found;
}
