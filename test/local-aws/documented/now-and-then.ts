import type { Random } from '../../../lib/sandbox/platform/records/random.ts';

/**
 * True for about one call in `mean`, and never for two within half of that: it happens to every client that asks often
 * enough, and a client that tries again gets through.
 */
export function createNowAndThen(random: Random, mean: number): () => boolean {
  let left = 1 + random.below(mean);
  return () => {
    left -= 1;
    if (left > 0) return false;
    left = Math.ceil(mean / 2) + random.below(mean);
    return true;
  };
}
