import { findFormula, formulaKeys } from '../../jobs/types/update-formula/formula-log.ts';
import { readAhead } from '../../snapshot/sources/read-ahead.ts';
import type { Store } from '../../store/index.ts';
import type { FormulaUpdate } from '../facts.ts';
import { createLargest } from './listed.ts';
import { addOdd, damageIn, type Members, type Reading, shownText, textIn } from './values.ts';

type FormulasToRead = Reading & {
  /** The most updates. Default: 1,000. */
  readonly most?: number;
};

const MOST_UPDATES = 1_000;
const AT_ONCE = 16;

/** The most characters of a formula, and of all together: the newest come first. */
const LONGEST_FORMULA = 20_000;
const MOST_CHARACTERS = 1_000_000;

/** An update of a calculation, and the key of the one before it. */
type Update = {
  readonly key: string;
  readonly earlier: string | undefined;
  readonly id: string;
  readonly at: number;
};

/** The formulas that were stored when we set them, newest first. */
export async function readFormulas(options: FormulasToRead): Promise<readonly FormulaUpdate[]> {
  const { store, addFault, signal } = options;
  const found: FormulaUpdate[] = [];
  const odd: string[] = [];
  let characters = 0;
  const items = (await newestUpdates(options)).toSorted((a, b) => b.at - a.at);
  const read = async (update: Update) => ({
    ...update,
    calculation: await calculationOf(store, update.key),
    before: textIn((await calculationOf(store, update.earlier))?.['expression']) ?? null,
  });
  for await (const { key, id, at, calculation, before } of readAhead({
    items,
    read,
    concurrency: AT_ONCE,
    signal,
  })) {
    const after = textIn(calculation?.['expression']);
    // Without a calculation: it was deleted meanwhile.
    if (calculation !== undefined && after === undefined) odd.push(key);
    if (after === undefined) continue;
    const formulas = {
      before: before === null ? null : shownText(before, LONGEST_FORMULA),
      after: shownText(after, LONGEST_FORMULA),
    };
    characters += formulas.after.length + (formulas.before?.length ?? 0);
    if (characters > MOST_CHARACTERS) break;
    const name = shownText(textIn(calculation?.['name']) ?? '');
    found.push({ calculationId: shownText(id), name, at, ...formulas });
  }
  addOdd(addFault, odd, 'a calculation with its formula');
  return found;
}

/** Lists all updates, and holds the newest. */
async function newestUpdates({ store, signal, most = MOST_UPDATES }: FormulasToRead) {
  const newest = createLargest<Update>(most);
  let last: { readonly id: string; readonly key: string } | undefined;
  for await (const { key, id, at } of formulaKeys(store, signal)) {
    if (newest.mayAdd(at)) newest.add(at, { key, id, at, earlier: last?.id === id ? last.key : undefined });
    last = { id, key };
  }
  return newest.values();
}

/** No members if it is something else. */
async function calculationOf(store: Store, key: string | undefined): Promise<Members | undefined> {
  try {
    return key === undefined ? undefined : (await findFormula(store, key))?.calculation;
  } catch (error) {
    damageIn(error);
    return {};
  }
}
