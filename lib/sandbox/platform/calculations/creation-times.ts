import { SEEDED_FROM_MS, SEEDED_UNTIL_MS } from '../records/epoch.ts';
import { drawFor } from '../records/random.ts';

/** Records from one import share their creation time: blocks of these sizes, with these chances. */
const IMPORTS = [
  { size: 256, chance: 0.03 },
  { size: 16, chance: 0.12 },
] as const;

/**
 * When seeded record `sequence` of `seeded` was created, in epoch milliseconds: never before the previous record, and
 * not unique.
 */
export function seededCreationMs(seed: number, sequence: number, seeded: number): number {
  for (const { size, chance } of IMPORTS) {
    const block = Math.floor(sequence / size);
    if (drawFor(seed, `import of ${size}`, block) < chance) return momentOf(seed, block * size, seeded);
  }
  return momentOf(seed, sequence, seeded);
}

function momentOf(seed: number, sequence: number, seeded: number): number {
  const stepMs = (SEEDED_UNTIL_MS - SEEDED_FROM_MS) / (seeded + 1);
  return Math.floor(SEEDED_FROM_MS + (sequence + drawFor(seed, 'created', sequence)) * stepMs);
}
