import { createHashIndex } from './hashes/hash-index.ts';
import type { HashList, SortedHashes } from './hashes/hash-list.ts';

/** Where in its list a record is, by its id. */
export type Places = {
  /** How many are listed. */
  readonly listed: number;
  /** `unlisted` if there is a record that is not listed, undefined if there is none. */
  readonly placeOf: (id: string) => number | 'unlisted' | undefined;
};

export const noPlaces: Places = { listed: 0, placeOf: () => undefined };

/** The places of records by the hashes of their ids; `chosen` is 1 for those that are listed, in their order. */
export function createPlaces(ids: HashList, sorted: SortedHashes, chosen: Uint8Array): Places {
  const index = createHashIndex();
  // An id that occurs twice is the first.
  const places: number[] = [];
  let listed = 0;
  for (let number = 0; number < chosen.length; number += 1) {
    if (chosen[number] !== 1) continue;
    const at = index.addHash(ids.at(number));
    if (at === places.length) places.push(listed);
    listed += 1;
  }
  return {
    listed,
    placeOf(id) {
      const at = index.find(id);
      return at === undefined ? (sorted.has(id) ? 'unlisted' : undefined) : places[at];
    },
  };
}
