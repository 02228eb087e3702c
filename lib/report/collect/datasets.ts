import { isBroken, type Use } from '../../model/rules/index.ts';
import type { DatasetFacts } from '../facts.ts';
import { grown } from './hashes/grown.ts';
import { createTextIndex, type TextIndex } from './hashes/text-index.ts';
import type { ListLimits } from './list-limits.ts';

/** The datasets that links and cards name, with how often they do. Edges are added once, and named again if asked. */
export type Datasets = {
  readonly add: (edge: Use) => void;
  /** Called when all were added. */
  readonly choose: () => void;
  /** True as long as edges must be read again, by `name`. */
  readonly isWanting: () => boolean;
  readonly name: (edge: Use) => void;
  /** The place of a dataset in the list: `unlisted` if it is not in it, undefined if nobody has named it. */
  readonly placeOf: (id: string) => number | 'unlisted' | undefined;
  readonly listed: number;
  readonly facts: () => DatasetFacts;
};

const COUNTED = ['cards', 'calculations', 'broken'] as const;

export function createDatasets({ whole, top }: ListLimits): Datasets {
  const index = createTextIndex(whole);
  const counts = {
    cards: new Uint32Array(64),
    calculations: new Uint32Array(64),
    broken: new Uint32Array(64),
  };
  let places = new Uint32Array(0);
  let order: readonly number[] = [];
  const of = (number: number, name: Counted) => counts[name][number] ?? 0;
  return {
    add({ user, used, validity }) {
      if (used.kind !== 'dataset') return;
      const number = index.add(used.id);
      for (const name of COUNTED) counts[name] = grown(counts[name], number);
      const users = user.kind === 'card' ? 'cards' : 'calculations';
      counts[users][number] = of(number, users) + 1;
      if (isBroken(validity)) counts.broken[number] = of(number, 'broken') + 1;
    },
    choose() {
      const all = Uint32Array.from({ length: index.size() }, (_, number) => number);
      all.sort(
        (a, b) => of(b, 'cards') - of(a, 'cards') || of(b, 'calculations') - of(a, 'calculations') || a - b,
      );
      order = Array.from(all.subarray(0, all.length <= whole ? all.length : top));
      // One more than the place, since 0 is for a dataset that is not listed.
      places = new Uint32Array(index.size());
      for (const [place, number] of order.entries()) {
        places[number] = place + 1;
        index.want(number);
      }
    },
    isWanting: () => index.isWanting(),
    name: ({ used }) => {
      if (used.kind === 'dataset') index.name(used.id);
    },
    placeOf(id) {
      const number = index.find(id);
      if (number === undefined) return undefined;
      const place = places[number] ?? 0;
      return place === 0 ? 'unlisted' : place - 1;
    },
    get listed() {
      return order.length;
    },
    facts: () => listed(index, order, of, whole),
  };
}

type Counted = (typeof COUNTED)[number];

function listed(
  index: TextIndex,
  order: readonly number[],
  of: (number: number, name: Counted) => number,
  whole: number,
): DatasetFacts {
  const total = index.size();
  const columns = {
    id: order.map((number) => index.textOf(number)),
    cards: order.map((number) => of(number, 'cards')),
    calculations: order.map((number) => of(number, 'calculations')),
    broken: order.map((number) => of(number, 'broken')),
  };
  return { total, list: { total, isWhole: total <= whole, columns } };
}
