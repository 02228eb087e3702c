import { anyRecord } from '../../base/index.ts';
import { parseJson, printJson } from '../../base/json/index.ts';
import { findStored, MAX_LIST_BYTES, type Store } from '../../store/index.ts';

const folderOf = (calculationId: string) => `formulas/${calculationId}/`;

/** A time as a name, such as `20261121T091500123Z`. Such names sort by time, and are valid keys in every store. */
export const timeName = (ms: number) => new Date(ms).toISOString().replaceAll(/[-:.]/g, '');

/**
 * Stores the calculation as it is after an update, and returns the key. It may be repeated: the same update has the
 * same key and bytes.
 */
export async function storeFormula(
  store: Store,
  { calculationId, finishedAtMs, ...update }: FormulaResponse,
): Promise<string> {
  const key = `${folderOf(calculationId)}${timeName(finishedAtMs)}.json`;
  await store.put(key, Buffer.from(`${calculationAfter(update)}\n`), { contentType: 'application/json' });
  return key;
}

/** What is known after an update. */
type FormulaResponse = {
  readonly calculationId: string;
  readonly finishedAtMs: number;
  /** The formula that was sent. Default: the response contains it. */
  readonly expression?: string;
  /** The response as JSON; undefined if no response was stored. */
  readonly response: string | undefined;
};

/**
 * The platform's response as received. If it lacks the formula that was sent, that formula is added, since it is stored
 * nowhere else. If the platform returned a different formula, that one is stored as `_answeredExpression`.
 */
function calculationAfter({
  expression,
  response = '{}',
}: Pick<FormulaResponse, 'expression' | 'response'>): string {
  const answer: unknown = parseJson(response);
  const members = anyRecord().safeParse(answer).data ?? {};
  if (expression === undefined || members['expression'] === expression) return response;
  const other =
    (members['expression'] ?? null) === null ? {} : { _answeredExpression: members['expression'] };
  return printJson({ ...members, ...other, expression });
}

/** A stored response. `time`: the name of the time of the update (`timeName`); `calculation`: the stored members. */
export type FormulaLogEntry = {
  readonly key: string;
  readonly time: string;
  readonly calculation: Readonly<Record<string, unknown>>;
};

/**
 * The stored responses to platform-sync's updates of a calculation, oldest first. Throws `StoredObjectError` if a
 * response is not a JSON object.
 */
export async function* readFormulaLog(store: Store, calculationId: string): AsyncGenerator<FormulaLogEntry> {
  for await (const { key } of store.list(folderOf(calculationId))) {
    const entry = await findFormula(store, key);
    if (entry !== undefined) yield entry;
  }
}

/**
 * The stored response under a key; undefined if it was deleted. Throws `StoredObjectError` if it is not a JSON object.
 */
export async function findFormula(
  store: Pick<Store, 'get'>,
  key: string,
): Promise<FormulaLogEntry | undefined> {
  const stored = await findStored(store, key, anyRecord(), MAX_LIST_BYTES);
  const [, id, time = ''] = /([^/]+)\/([^/]+)\.json$/.exec(key) ?? [];
  // The id is taken from the key, since in the response the platform may write it in another form.
  return stored && { key, time, calculation: { ...stored.value, id } };
}

/**
 * The keys of the stored responses for all calculations, or for only one, sorted by calculation and time. `at`: the
 * time in epoch milliseconds.
 */
export async function* formulaKeys(store: Pick<Store, 'list'>, signal?: AbortSignal, calculationId?: string) {
  const folder = calculationId === undefined ? folderOf('').slice(0, -1) : folderOf(calculationId);
  for await (const { key } of store.list(folder, { signal })) {
    const [, id, time] = KEY.exec(key) ?? [];
    const at = timeOfEntry({ time });
    if (id !== undefined && !Number.isNaN(at)) yield { key, id, at };
  }
}

/** When the update returned, in epoch milliseconds; NaN if `time` is not a time. */
export const timeOfEntry = ({ time = '' }: { readonly time?: string | undefined }): number =>
  Date.parse(time.replace(TIME_NAME, '$1-$2-$3T$4:$5:$6.$7Z'));

const KEY = /^formulas\/([^/]+)\/(\d{8}T\d{9}Z)\.json$/;
const TIME_NAME = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z$/;
