import type { Plan } from './plan.ts';
import type { Scene } from './scene.ts';

/** Half of the rate must be used again this long after the last fault. */
const USED_AFTER_MS = 60_000;
/** The share is measured for at most this long. */
const MEASURED_MS = 60_000;
/** A shorter measurement means nothing: it has only the last calls of a backlog. */
const MIN_MEASURED_MS = 10_000;

/** The number of files that each job of the backlog reads: most reads wait for the pace, not for a message. */
const FILES = 4;

/**
 * Sends a backlog when everything becomes calm, and watches how long its messages wait. Returns the share of the rate
 * that was used meanwhile; undefined if the backlog ended too soon to measure.
 */
export function watchRecovery(plan: Plan, { world, queue, platform }: Scene) {
  const ids: string[] = [];
  let waitingUntilMs = 0;
  const watch = async () => {
    await world.clock.sleep(plan.calmFromMs);
    const jobs = Math.ceil((plan.rate * plan.backlogMs) / 1_000 / FILES);
    for (let number = 1; number <= jobs; number += 1) {
      const id = `backlog-${number}`;
      ids.push(id);
      const files = Array.from({ length: FILES }, (_, file) => `9${number}0${file}`);
      queue.send(JSON.stringify({ version: 1, type: 'data-files', id, ids: files }));
    }
    world.log('world', `is calm: ${queue.all().length} messages`);
    while (world.sinceStartMs() < plan.calmFromMs + USED_AFTER_MS + MEASURED_MS) {
      await world.clock.sleep(1_000);
      if (queue.waiting() === 0) return;
      waitingUntilMs = world.sinceStartMs();
    }
  };
  void watch();
  return {
    ids: (): readonly string[] => ids,
    share(): number | undefined {
      const fromMs = plan.calmFromMs + USED_AFTER_MS;
      const lastsMs = waitingUntilMs - fromMs;
      if (lastsMs < MIN_MEASURED_MS) return undefined;
      const calls = platform.arrivals.filter((atMs) => atMs >= fromMs && atMs < waitingUntilMs).length;
      return calls / ((lastsMs / 1_000) * plan.rate);
    },
  };
}
