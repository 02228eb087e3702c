import type { Plan } from '../plan.ts';
import type { Arrival } from '../whole-platform.ts';
import type { Finished } from './promises.ts';

/**
 * **The budget is the fleet's**: no sliding second at the platform holds more requests than the rate. A process that
 * alone is cut off from the table sends at the safe rate beside the line of the others, who cannot know: where that may
 * be, only the requests of the line count.
 */
export function checkRate({ plan, scene, broken }: Finished): number {
  const { arrivals } = scene.platform;
  const counted = isAwayForAll(plan) ? arrivals : arrivals.filter(({ isOfLine }) => isOfLine);
  const { most, atMs } = mostInASecond(counted);
  if (most > plan.rate)
    broken(
      `The budget is the fleet's: ${most} requests in the second before ${atMs / 1_000} s, at a rate of ${plan.rate}`,
    );
  return mostInASecond(arrivals).most;
}

/** Whether the table is away for all processes or for none. */
const isAwayForAll = ({ spells, noisePercent }: Plan): boolean =>
  noisePercent === 0 && spells.every(({ border, percent }) => border !== 'table' || percent === 100);

function mostInASecond(arrivals: readonly Arrival[]) {
  const times = arrivals.map(({ atMs }) => atMs).sort((a, b) => a - b);
  let [first, most, at] = [0, 0, 0];
  for (const [last, atMs] of times.entries()) {
    while ((times[first] ?? atMs) <= atMs - 1_000) first += 1;
    if (last - first + 1 > most) [most, at] = [last - first + 1, atMs];
  }
  return { most, atMs: at };
}
