import type { Dice } from '../dice.ts';
import type { OddPlatform } from './odd-platform.ts';

/**
 * A record as the platform had it from `fromMs` to `toMs` (epoch milliseconds; `Infinity` for the current version).
 * `line` is its JSON.
 */
export type Version = { readonly id: number; readonly line: string; readonly fromMs: number; toMs: number };

type Page = { readonly ascending: boolean; readonly offset: number; readonly limit: number };

type Records = { readonly records: number; readonly datasets: number };

/** The cards of a dataset. They never change. */
export const cardsOf = (dataset: string) =>
  [1, 2].map((card) => {
    const id = Number(dataset) * 10 + card;
    return { id, urn: String(id), title: `card ${card} of ${dataset}` };
  });

/** Minimum time between changes, in milliseconds: if records were added faster than a scan reads them, it would never end. */
const CHANGED_MS = 300;

/** Calculations that change while they are read, with all versions that they ever had. */
export function createRecords(
  { records: count, datasets }: Records,
  dice: Dice,
  now: () => number,
  odd: OddPlatform,
) {
  const plain = new Map<Version, object>();
  const versionsOf = new Map<number, Version[]>();
  const live: Version[] = [];
  let highest = 0;
  let edits = 0;
  let changedAtMs = 0;

  const version = (id: number): Version => {
    edits += 1;
    const record = {
      id,
      name: `calculation ${id}`,
      edit: edits,
      ...(datasets > 0 ? { links: [linkTo(String(id % datasets))] } : {}),
    };
    const added = { id, line: odd.calculation(record), fromMs: now(), toMs: Number.POSITIVE_INFINITY };
    plain.set(added, record);
    const own = versionsOf.get(id) ?? [];
    own.push(added);
    versionsOf.set(id, own);
    return added;
  };
  const add = () => {
    highest += 1 + dice.below(5);
    live.push(version(highest));
  };
  const remove = (at: number) => {
    const [removed] = live.splice(at, 1);
    if (removed !== undefined) {
      removed.toMs = now();
      plain.delete(removed);
    }
    return removed;
  };
  const change = () => {
    const at = dice.below(live.length);
    switch (dice.pick(['add', 'delete', 'delete', 'edit'] as const)) {
      case 'add':
        return add();
      case 'delete':
        // A run that has shrunk by half is correctly refused by a gate, so delete few records.
        return live.length > count * 0.8 ? void remove(at) : add();
      default: {
        const before = remove(at);
        if (before !== undefined) live.splice(at, 0, version(before.id));
      }
    }
  };
  for (let each = 0; each < count; each += 1) add();

  return {
    /** Makes a few changes, as may happen between two pages. Several scans at the same time do not cause more changes. */
    shift() {
      if (now() < changedAtMs + CHANGED_MS) return;
      changedAtMs = now();
      for (let left = dice.pick([0, 0, 1, 3]); left > 0; left -= 1) change();
    },
    page({ ascending, offset, limit }: Page): string {
      const ordered = ascending ? live : live.toReversed();
      const results = ordered.slice(offset, offset + limit).map((each) => plain.get(each));
      const hasMore = offset + limit < live.length;
      return odd.bodyOf('searchCalculations', { results, totalHits: live.length, hasMore });
    },
    /** All versions of each record so far, in order, by id. */
    versionsOf: versionsOf as ReadonlyMap<number, readonly Version[]>,
    count: () => live.length,
  };
}

const linkTo = (id: string) => ({ resource: { type: 'DATA_SOURCE', id }, visible: true });
