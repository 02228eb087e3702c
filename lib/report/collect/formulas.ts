import { readAhead } from '../../base/index.ts';
import { findFormula, formulaKeys } from '../../model/formulas/index.ts';
import { type Store, unlessDamaged } from '../../store/index.ts';
import type { FormulaUpdate } from '../facts.ts';
import { addOdd, type Members, type Reading, shownText, textIn } from './values.ts';

type FormulasToRead = Reading & {
  /** The most updates. Default: 1,000. */
  readonly most?: number;
};

const MAX_UPDATES = 1_000;
const AT_ONCE = 16;

/** The most characters of a formula, and of all together: the newest come first. */
const MAX_FORMULA_LENGTH = 20_000;
const MAX_CHARACTERS = 1_000_000;

/** An update of a calculation, and the key of the one before it. */
type Update = {
  readonly key: string;
  readonly earlier: string | undefined;
  readonly id: string;
  readonly at: number;
};

/** The formulas that were stored when we set them, newest first. */
export async function readFormulas(options: FormulasToRead): Promise<readonly FormulaUpdate[]> {
  const { store, addFault, signal, most = MAX_UPDATES } = options;
  const found: FormulaUpdate[] = [];
  const odd: string[] = [];
  let characters = 0;
  const updates: Update[] = [];
  for await (const { key, id, at } of formulaKeys(store, signal)) {
    const last = updates.at(-1);
    updates.push({ key, id, at, earlier: last?.id === id ? last.key : undefined });
  }
  const items = updates.toSorted((a, b) => b.at - a.at).slice(0, most);
  const read = async (update: Update) => ({
    ...update,
    calculation: await calculationOf(store, update.key),
    before: textIn((await calculationOf(store, update.earlier))?.['expression']),
  });
  for await (const each of readAhead({ items, read, concurrency: AT_ONCE, signal })) {
    const { key, id, at, calculation } = each;
    const expression = textIn(calculation?.['expression']);
    // Without a calculation: it was deleted meanwhile.
    if (calculation !== undefined && expression === undefined) odd.push(key);
    if (expression === undefined) continue;
    const before = each.before === undefined ? null : shownText(each.before, MAX_FORMULA_LENGTH);
    const after = shownText(expression, MAX_FORMULA_LENGTH);
    characters += after.length + (before?.length ?? 0);
    if (characters > MAX_CHARACTERS) break;
    const name = shownText(textIn(calculation?.['name']) ?? '');
    found.push({ calculationId: shownText(id), name, at, before, after });
  }
  addOdd(addFault, odd, 'a calculation with its formula');
  return found;
}

/** No members if it is something else. */
async function calculationOf(store: Store, key: string | undefined): Promise<Members | undefined> {
  try {
    return key === undefined ? undefined : (await findFormula(store, key))?.calculation;
  } catch (error) {
    return unlessDamaged()(error) ?? {};
  }
}
