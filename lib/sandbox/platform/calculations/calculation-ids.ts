import { drawFor } from '../records/random.ts';

/** Ids by the order of creation: ascending, with gaps; the last seeded ones and all added ones are above 2^53. */
export type CalculationIds = {
  idOf(sequence: number): string;
  sequenceOf(id: string): number | undefined;
};

const FIRST_ID = 1_003;
const GAP = 37;
/** Odd, like every id above it: up to 2^54, a JavaScript number rounds each of them to a different one. */
const BIG_BASE = 2n ** 53n + 1n;
const BIG_GAP = 1_010;
/** One seeded record in this many is above 2^53, but at least three. */
const BIG_SHARE = 4_000;

export function createCalculationIds(seed: number, seeded: number): CalculationIds {
  const big = seeded < 3 ? 0 : Math.max(3, Math.floor(seeded / BIG_SHARE));
  const firstBig = seeded - big;
  const offset = (sequence: number, gap: number) =>
    Math.floor(drawFor(seed, 'calculation id', sequence) * gap);
  const idOf = (sequence: number) => {
    if (sequence < firstBig) return String(FIRST_ID + sequence * GAP + offset(sequence, GAP));
    return String(BIG_BASE + BigInt((sequence - firstBig) * BIG_GAP + 2 * offset(sequence, BIG_GAP / 2)));
  };
  const guess = (id: bigint) =>
    id >= BIG_BASE
      ? firstBig + Number((id - BIG_BASE) / BigInt(BIG_GAP))
      : Math.floor((Number(id) - FIRST_ID) / GAP);
  return {
    idOf,
    sequenceOf(id) {
      const sequence = guess(BigInt(id));
      return sequence >= 0 && Number.isSafeInteger(sequence) && idOf(sequence) === id ? sequence : undefined;
    },
  };
}
