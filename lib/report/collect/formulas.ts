import { parseJson } from '../../json/json.ts';
import { StoreError } from '../../store/error.ts';
import type { Store } from '../../store/store.ts';
import { getBounded } from '../../store/stored-json.ts';
import type { FormulaUpdate } from '../facts.ts';
import { readAhead } from './ahead.ts';
import { damageIn } from './damage.ts';
import { createLargest } from './largest.ts';
import { type Members, membersOf, shownText, textIn, timeIn } from './values.ts';

export type FormulasToRead = {
  readonly store: Store;
  readonly addFault: (fault: string) => void;
  readonly signal: AbortSignal;
  /** The most updates. Default: 1,000. */
  readonly most?: number;
};

const MOST_UPDATES = 1_000;

/** The most characters of a formula, and of all together: the newest come first. */
const LONGEST_FORMULA = 20_000;
const MOST_CHARACTERS = 1_000_000;

/** The most bytes of a calculation that is read. */
const MOST_BYTES = 4 * 1024 * 1024;

/** An update of a calculation, and the one before it. */
type Update = {
  readonly key: string;
  readonly earlier: string | undefined;
  readonly id: string;
  readonly at: number;
};

/** The formulas that were stored when we set them, newest first. */
export async function readFormulas(options: FormulasToRead): Promise<readonly FormulaUpdate[]> {
  const found: FormulaUpdate[] = [];
  const odd: string[] = [];
  let characters = 0;
  const updates = (await newestUpdates(options)).toSorted((a, b) => b.at - a.at);
  for await (const { update, calculation, before } of readAhead(updates, (each) =>
    readUpdate(each, options),
  )) {
    if (calculation === undefined) continue;
    const after = textIn(calculation['expression']);
    if (after === undefined) {
      odd.push(update.key);
      continue;
    }
    const formulas = {
      before: before === null ? null : shownText(before, LONGEST_FORMULA),
      after: shownText(after, LONGEST_FORMULA),
    };
    characters += formulas.after.length + (formulas.before?.length ?? 0);
    if (characters > MOST_CHARACTERS) break;
    const name = shownText(textIn(calculation['name']) ?? '');
    found.push({ calculationId: shownText(update.id), name, at: update.at, ...formulas });
  }
  if (odd.length > 0)
    options.addFault(
      `${odd[0]}: expected a calculation with its formula, got something else; ${odd.length} such objects are left out`,
    );
  return found;
}

/** Lists all updates, and holds the newest. */
async function newestUpdates({
  store,
  signal,
  most = MOST_UPDATES,
}: FormulasToRead): Promise<readonly Update[]> {
  const newest = createLargest<Update>(most);
  let last: { readonly id: string; readonly key: string } | undefined;
  for await (const { key } of store.list('formulas/', { signal })) {
    const [, id, time] = KEY.exec(key) ?? [];
    const at = time === undefined ? undefined : timeIn(time.replace(COMPACT, '$1-$2-$3T$4:$5:$6.$7Z'));
    if (id === undefined || at === undefined) continue;
    // Keys are listed by calculation and then by time.
    if (newest.mayAdd(at)) newest.add(at, { key, id, at, earlier: last?.id === id ? last.key : undefined });
    last = { id, key };
  }
  return newest.values();
}

const KEY = /^formulas\/([^/]+)\/(\d{8}T\d{9}Z)\.json$/;
const COMPACT = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z$/;

/** Without a calculation: it was deleted meanwhile. */
async function readUpdate(update: Update, options: FormulasToRead) {
  const [calculation, earlier] = await Promise.all([
    readCalculation(update.key, options),
    update.earlier === undefined ? undefined : readCalculation(update.earlier, options),
  ]);
  return { update, calculation, before: textIn(earlier?.['expression']) ?? null };
}

/** No members if it is something else. */
async function readCalculation(key: string, { store, signal }: FormulasToRead): Promise<Members | undefined> {
  signal.throwIfAborted();
  try {
    const stored = await getBounded(store, key, MOST_BYTES);
    return stored && membersOf(parseJson(stored.body.toString()));
  } catch (error) {
    // Of what is not JSON, too.
    if (error instanceof StoreError) damageIn(error);
    return {};
  }
}
