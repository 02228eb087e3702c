import type { Store } from '../../../store/store.ts';

const folderOf = (calculationId: string) => `formulas/${calculationId}/`;

/** `20261121T091500123Z`: sorts by time, and is a name everywhere. */
const timeName = (ms: number) => new Date(ms).toISOString().replaceAll(/[-:.]/g, '');

/**
 * Keeps the calculation as an update answered it: the same bytes under the same key, however often it is called. The
 * platform has no history of formulas, so what was there before our first update is not known.
 */
export async function keepFormula(
  store: Store,
  { calculationId, finishedAtMs, response }: FormulaAnswer,
): Promise<string> {
  const key = `${folderOf(calculationId)}${timeName(finishedAtMs)}.json`;
  await store.put(key, Buffer.from(`${response}\n`), { contentType: 'application/json' });
  return key;
}

export type FormulaAnswer = {
  readonly calculationId: string;
  /** Epoch milliseconds at which it was answered. */
  readonly finishedAtMs: number;
  /** The calculation, as JSON text. */
  readonly response: string;
};

/** What our updates of a calculation answered, oldest first. */
export async function* readFormulaLog(
  store: Store,
  calculationId: string,
): AsyncGenerator<{ readonly key: string; readonly time: string; readonly json: string }> {
  for await (const { key } of store.list(folderOf(calculationId))) {
    const stored = await store.get(key);
    const time = key.slice(key.lastIndexOf('/') + 1, -'.json'.length);
    if (stored !== undefined) yield { key, time, json: stored.body.toString() };
  }
}
