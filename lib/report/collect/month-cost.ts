import { batchOfJob, storedResults } from '../../jobs/index.ts';
import { findSummary, SCORES_FOLDER, unknownCalls } from '../../jobs/texts/index.ts';
import { wasExecuted } from '../../jobs/types/index.ts';
import { moneyFor, moneyWords } from '../../prices.ts';
import { idOfSegment, unlessDamaged } from '../../store/index.ts';
import type { ReportFacts } from '../facts.ts';
import { membersOf, type Reading } from './values.ts';

/** Maximum results of each type to read. */
const MAX_RESULTS = 5_000;

const DAY_MS = 86_400_000;

/** The setting PLATFORM_PRICES: what a call costs, by operation. */
export type Prices = NonNullable<Parameters<typeof moneyFor>[0]>;

/**
 * Computes what the jobs and batches that ended this month cost; undefined without prices. It reads the results of code
 * functions, of updates, and of `score` jobs without a batch. A batch counts in the month in which its summary was last
 * stored.
 */
export async function readMonthCost(
  prices: Prices | undefined,
  { store, nowMs, addFault, signal }: Reading & { readonly nowMs: number },
): Promise<ReportFacts['cost'] | undefined> {
  if (prices === undefined) return undefined;
  const month = new Date(nowMs).toISOString().slice(0, 7);
  const sinceMs = Date.parse(`${month}-01`);
  const calls: Record<string, number> = { score: 0, 'run-function': 0, 'update-formula': 0 };
  const unknown: Record<string, number> = {};
  const add = (name: string, all: number, open: number) => {
    calls[name] = (calls[name] ?? 0) + all;
    unknown[name] = (unknown[name] ?? 0) + open;
  };
  let isCut = false;
  for (const type of Object.keys(calls)) {
    let read = 0;
    // A result is stored under the day of the job's first claim, according to a clock that may be ahead.
    for (let dayMs = nowMs + DAY_MS; dayMs >= sinceMs - DAY_MS && read <= MAX_RESULTS; dayMs -= DAY_MS) {
      const day = new Date(dayMs).toISOString().slice(0, 10);
      for await (const { value = {} } of storedResults(store, { type, day, sinceMs, signal })) {
        const { status, error, response, id } = value;
        read += 1;
        if (read > MAX_RESULTS) {
          isCut = true;
          break;
        }
        const isUnknown = status === 'unknown';
        if (type !== 'score')
          add(type, status === 'done' || isUnknown || wasExecuted(error) ? 1 : 0, isUnknown ? 1 : 0);
        else if (batchOfJob(String(id)) === undefined) add(type, ...callsIn(response));
      }
    }
  }
  for await (const { key, storedMs = 0 } of store.list(SCORES_FOLDER, { signal })) {
    const segment = /^[^/]+\/([^/]+)\/_summary\.json$/.exec(key)?.[1];
    if (segment === undefined || storedMs < sinceMs) continue;
    const batch = idOfSegment(segment) ?? segment;
    const summary = await findSummary(store, batch).catch(unlessDamaged(addFault));
    if (summary !== undefined) add('score', summary.calls, unknownCalls(summary));
  }
  const money = moneyFor(prices, calls, unknown);
  if (money === undefined) return undefined;
  const words = `Cost in ${month} so far: ${isCut ? 'at least ' : ''}${moneyWords(money)}`;
  return { month, ...money, isCut, words };
}

/**
 * The calls of a job that scored texts without a batch, and how many of them repeated a call whose response was lost.
 */
function callsIn(response: unknown): readonly [all: number, open: number] {
  const { results } = membersOf(response);
  const each = Array.isArray(results) ? results.map(membersOf) : [];
  const sum = (name: string) => each.reduce((all, result) => all + (Number(result[name]) || 0), 0);
  return [sum('calls'), sum('paidAgain')];
}
