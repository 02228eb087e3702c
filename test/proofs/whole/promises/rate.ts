import type { Finished } from './promises.ts';

/** **The budget is the fleet's**: no sliding second at the platform holds more requests than the rate. */
export function checkRate({ plan, scene, broken }: Finished): number {
  const { most, atMs } = mostInASecond(scene.platform.arrivals);
  if (most > plan.rate)
    broken(
      `The budget is the fleet's: ${most} requests in the second before ${atMs / 1_000} s, at a rate of ${plan.rate}`,
    );
  return most;
}

function mostInASecond(arrivals: readonly number[]) {
  const times = arrivals.toSorted((a, b) => a - b);
  let [first, most, at] = [0, 0, 0];
  for (const [last, atMs] of times.entries()) {
    while ((times[first] ?? atMs) <= atMs - 1_000) first += 1;
    if (last - first + 1 > most) [most, at] = [last - first + 1, atMs];
  }
  return { most, atMs: at };
}
