import type { Dice } from '../dice.ts';

/** The borders at which requests can fail. Each request that leaves a process crosses one of them. */
const borders = ['table', 'store', 'queue', 'platform', 'executions'] as const;
export type Border = (typeof borders)[number];

/**
 * What happens to a request. `refused`: it fails immediately and is not executed. `unsent`: it is not executed, and no
 * response comes. `unanswered`: it is executed, but the response is lost. `late`: it is executed long after its sender
 * gave up. `slow`: it is executed, but the response takes seconds. `throttled`: the service says that it is busy.
 */
const fates = ['refused', 'unsent', 'unanswered', 'late', 'slow', 'throttled'] as const;
export type Fate = (typeof fates)[number];

/** Additional fates of a request at the platform, with the names of `platform-responses.ts`. */
export const platformFates = [
  '429',
  '401',
  '503',
  'connection refused',
  'connection lost',
  'cut response',
  'timeout',
] as const;
export type PlatformFate = (typeof platformFates)[number];

/** A time in which a border fails; in milliseconds from the start. `percent`: of the requests. */
export type Spell = { readonly fromMs: number; readonly toMs: number; readonly percent: number } & (
  | { readonly border: Exclude<Border, 'platform'>; readonly fate: Fate }
  | { readonly border: 'platform'; readonly fate: PlatformFate; readonly retryAfterMs: number }
);

/** The spells of a schedule. The last one ends when everything becomes calm. */
export function spellsOf(dice: Dice, calmFromMs: number): readonly Spell[] {
  return Array.from({ length: 1 + dice.below(7) }, (_, index) => {
    const lastsMs = dice.pick([2_000, 20_000, 60_000, 180_000, 600_000]);
    const toMs = index === 0 ? calmFromMs : dice.below(calmFromMs);
    return spellAt(dice, { fromMs: Math.max(0, toMs - lastsMs), toMs });
  });
}

/** A time in which one border (table, store, queue, platform or executions) is completely unavailable. */
export function longSpell(dice: Dice, times: Pick<Spell, 'fromMs' | 'toMs'>): Spell {
  const border = dice.pick(borders);
  return border === 'platform'
    ? {
        ...times,
        percent: 100,
        border,
        fate: dice.pick(['401', '503', 'connection refused']),
        retryAfterMs: 0,
      }
    : { ...times, percent: 100, border, fate: dice.pick(['refused', 'unsent', 'throttled']) };
}

function spellAt(dice: Dice, times: Pick<Spell, 'fromMs' | 'toMs'>): Spell {
  const border = dice.pick([...borders, 'platform'] as const);
  const percent = dice.pick([10, 50, 100]);
  if (border !== 'platform') return { ...times, percent, border, fate: dice.pick(fates) };
  const fate = dice.pick(platformFates);
  return { ...times, percent, border, fate, retryAfterMs: dice.pick([0, 1_000, 5_000, 30_000]) };
}
