import type { Random } from '../../../lib/sandbox/platform/records/random.ts';

/**
 * Creates a function that returns true for about one call in `mean`, and never twice within half of that number. So
 * every busy client meets a fault, and its retry succeeds.
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
