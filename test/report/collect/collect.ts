import { collectFacts } from '../../../lib/report/collect/collect-facts.ts';
import type { ListLimits } from '../../../lib/report/collect/records.ts';
import type { Place } from '../../../lib/snapshot/keys.ts';
import type { Store } from '../../../lib/store/store.ts';
import { publishLines, wednesday } from '../../snapshot/changes/publish-lines.ts';
import { createMemoryStore } from '../../store/memory-store.ts';

/** Noon on the day of the run `wednesday`. */
const NOON = Date.parse('2026-11-18T12:00:00.000Z');

export const collect = (store: Store, limits?: ListLimits, signal = new AbortController().signal) =>
  collectFacts({ store, now: () => NOON, signal, ...(limits === undefined ? {} : { limits }) });

/** A store with a published run of each place, with these records or lines. */
export async function storeOf(records: Partial<Record<Place, readonly unknown[]>>) {
  const store = createMemoryStore();
  for (const [place, values] of Object.entries(records))
    await publishLines(store, {
      place: place as Place,
      run: wednesday,
      lines: (values ?? []).map((value) => (typeof value === 'string' ? value : JSON.stringify(value))),
    });
  return store;
}

export function given<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('expected facts, got none');
  return value;
}
