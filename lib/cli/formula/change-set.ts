import * as z from 'zod/mini';
import { type FormulaLogEntry, listFormulas, readFormulaLog, timeName } from '../../model/formulas/index.ts';
import { findStored, MAX_LIST_BYTES, printStored, type Store } from '../../store/index.ts';
import { UsageError } from '../errors/usage-error.ts';
import { firstOf } from '../terminal/terminal.ts';

const rowSchema = z.object({
  /** The digits of the calculation's id. */
  id: z.string(),
  /** The name in the file, for messages; null if the file has no name. */
  name: z.nullable(z.string()),
  expression: z.string(),
  /** The formula before the change; null if it is unknown. */
  was: z.nullable(z.string()),
});

const setSchema = z.object({ version: z.literal(1), name: z.string(), rows: z.array(rowSchema) });

/** Formulas that are set together. `name`: the name under which they can be undone. */
type ChangeSet = z.infer<typeof setSchema>;
/** A formula of a change set. */
export type SetRow = z.infer<typeof rowSchema>;

/**
 * Completes each row with its formula before the change: from platform-sync's last update, or an import,
 * otherwise from the file. Throws `UsageError` for rows that could not be undone or whose `was` contradicts the log,
 * except for calculations in `ids`. If the set is stored already, returns the stored rows.
 */
export async function withFormulasBefore(
  store: Store,
  { name: set, rows, ids }: Omit<ChangeSet, 'version'> & { readonly ids: readonly string[] },
): Promise<readonly SetRow[]> {
  const stored = await findChangeSet(store, set);
  if (stored !== undefined && changesOf(stored.rows) === changesOf(rows)) return stored.rows;
  const known: SetRow[] = [];
  const contradicted: string[] = [];
  const formulas = await formulasBefore(
    store,
    rows.map(({ id }) => id),
  );
  for (const row of rows) {
    const { id, was } = row;
    const before = formulas.get(id);
    const isOther =
      before !== undefined && was !== null && withSingleSpaces(was) !== withSingleSpaces(before.expression);
    if (isOther && !ids.includes(id))
      contradicted.push(
        `calculation ${id}: \`was\` differs from the formula that platform-sync ${before.source === 'import' ? 'imported' : 'set'} at ${timeName(before.atMs)}:\n  ${before.expression}\n\`was\`:\n  ${was}`,
      );
    known.push({ ...row, was: isOther ? null : (before?.expression ?? was) });
  }
  const anyway = (all: readonly SetRow[]) =>
    `To set them anyway: --no-undo-for ${all
      .slice(0, MAX_LINES)
      .map(({ id }) => id)
      .join(' ')}`;
  const lost = known.filter(({ id, was }) => was === null && !ids.includes(id));
  if (contradicted.length > 0)
    throw new UsageError(
      `\`was\` contradicts the stored formulas; nothing was sent:\n${firstOf(contradicted, MAX_LINES).join('\n')}\n  ${anyway(lost)}`,
    );
  if (lost.length === 0) return known;
  const named = lost.map(
    ({ id, name }) => `calculation ${id}${name === null ? '' : ` ${JSON.stringify(name)}`}`,
  );
  throw new UsageError(
    lostFault(named, { undone: 'sent', from: 'add them in a column `was`, or ', remedy: anyway(lost) }),
  );
}

/** Replaces all white space by single spaces, since spreadsheets change line ends and tabs. */
const withSingleSpaces = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

const changesOf = (rows: readonly SetRow[]): string =>
  JSON.stringify(rows.map(({ id, expression }) => [id, expression]));

/** The calculation and its formula after platform-sync's last update, and whether any update set `expression`. */
export async function ourUpdates(store: Store, { id, expression }: { id: string; expression?: string }) {
  let last: FormulaLogEntry | undefined;
  let isApplied = false;
  for await (const entry of readFormulaLog(store, id)) {
    last = entry;
    isApplied ||= entry.calculation['expression'] === expression;
  }
  const before = last?.calculation['expression'];
  return { last, lastExpression: typeof before === 'string' ? before : undefined, isApplied };
}

/** The key of a set. Its name begins with `_`, so that SQL engines do not take it for a formula. */
const keyOf = (name: string) => `formulas/sets/${name}/_set.json`;

/**
 * Stores a set before it is sent, because the earlier formulas are unknown afterwards. Throws `UsageError` if another
 * set has its name, or if it was applied and platform-sync has set another formula since then: its jobs have ended, so
 * they would not run again.
 */
export async function storeChangeSet(store: Store, set: ChangeSet): Promise<void> {
  const { name, rows } = set;
  const put = await store.put(keyOf(name), printStored(set), { condition: { ifAbsent: true } });
  if (put.kind === 'stored') return;
  const stored = await findChangeSet(store, name);
  if (stored !== undefined && changesOf(stored.rows) !== changesOf(rows))
    throw new UsageError(
      `--name ${name} was used for other changes before; nothing was sent. Use another name`,
    );
  for (const row of rows) {
    const { lastExpression, isApplied } = await ourUpdates(store, row);
    if (isApplied && lastExpression !== row.expression)
      throw new UsageError(
        `--name ${name} was applied before, and the formula of calculation ${row.id} has been set since then, for example by formula undo; nothing was sent. Use another name`,
      );
  }
}

/**
 * The set that was applied under a name; undefined if that never happened. Throws `StoredObjectError` if it is damaged.
 */
export const findChangeSet = async (store: Store, name: string): Promise<ChangeSet | undefined> =>
  (await findStored(store, keyOf(name), setSchema, MAX_LIST_BYTES))?.value;

/** The stored texts of the current formulas of calculations, by their ids. */
const formulasBefore = async (store: Store, ids: Iterable<string>) =>
  (await listFormulas(store)).read(new Set(ids));

/** The calculations whose current formulas are not stored. */
export async function lostFormulas(store: Store, ids: Iterable<string>): Promise<readonly string[]> {
  const all = [...ids];
  const known = await formulasBefore(store, all);
  return all.filter((id) => !known.has(id));
}

/**
 * The message for updates that could not be undone: the platform has no history, and returns a formula only after an
 * update. `calculations`: their names for the message. `undone`: what was not done, such as `sent`. `from`: another way
 * to supply the formulas. `remedy`: how to set them anyway.
 */
export const lostFault = (
  calculations: readonly string[],
  { undone, remedy, from = '' }: { readonly undone: string; readonly remedy: string; readonly from?: string },
): string =>
  `the current text of these formulas is unknown, so the change could not be undone; nothing was ${undone}:\n${firstOf(calculations, MAX_LINES).join('\n')}\n  To make it known: ${from}import them (formula import)\n  ${remedy}`;

/** Maximum formulas or rows that a message lists. */
export const MAX_LINES = 50;

/** Throws `UsageError` for updates of the calculations `ids` that could not be undone. */
export async function refuseLost(
  openStore: () => Promise<Store>,
  ids: ReadonlySet<string>,
  words: Parameters<typeof lostFault>[1],
): Promise<void> {
  if (ids.size === 0) return;
  const lost = await lostFormulas(await openStore(), ids);
  if (lost.length === 0) return;
  throw new UsageError(
    lostFault(
      lost.map((id) => `calculation ${id}`),
      words,
    ),
  );
}
