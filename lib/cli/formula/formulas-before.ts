import { findFormula, formulaKeys } from '../../model/formula-log.ts';
import type { Store } from '../../store/index.ts';
import { UsageError } from '../errors/usage-error.ts';
import { firstOf } from '../terminal/terminal.ts';

/** A formula that is stored here, and since when a calculation has had it, as a key of the log has it. */
export type FormulaBefore = { readonly expression: string; readonly time: string };

/** What is stored of the formula that a calculation has now: as our last update left it; undefined if nothing is. */
export async function formulaBefore(store: Store, id: string): Promise<FormulaBefore | undefined> {
  let last: string | undefined;
  for await (const { key } of formulaKeys(store, new AbortController().signal, id)) last = key;
  const entry = last === undefined ? undefined : await findFormula(store, last);
  const expression = entry?.calculation['expression'];
  return entry && typeof expression === 'string' ? { expression, time: entry.time } : undefined;
}

/** The calculations of which nothing that is stored says what their formulas are. */
export async function lostFormulas(store: Store, ids: Iterable<string>): Promise<readonly string[]> {
  const lost: string[] = [];
  for (const id of ids) if ((await formulaBefore(store, id)) === undefined) lost.push(id);
  return lost;
}

/**
 * What every way to set formulas says of those that could not be taken back: the platform has no history, and returns a
 * formula only to an update. `calculations`: what they are called. `from`: where else it could be known from.
 */
export const lostFault = (
  calculations: readonly string[],
  { undone, way, from = '' }: { readonly undone: string; readonly way: string; readonly from?: string },
): string =>
  `expected to know what each formula is now, ${from}from an update of ours, so that it can be taken back; nothing was ${undone}. Not known:\n${firstOf(calculations, MAX_LINES).join('\n')}\n  ${way}`;

/** The most lines that an error has. */
export const MAX_LINES = 50;

/** Throws `UsageError` for updates of formulas that could not be taken back. */
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
