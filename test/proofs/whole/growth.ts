import type { Scene } from './scene.ts';

/** Interval between counts of the state, in days. */
const EVERY_DAYS = 28;
const DAY_MS = 86_400_000;

/**
 * Measures a long schedule every four weeks: the CPU time (seconds) and memory (megabytes) of this process, and the
 * number of rows, of objects and of megabytes of objects.
 */
export function watchGrowth({ world, table, store }: Scene) {
  const startedS = cpuS();
  const samples: string[] = [];
  const sample = async (day: number) => {
    const rows = (await Array.fromAsync(table.rows.scan(''))).length;
    const objects = await Array.fromAsync(store.list(''));
    const sizeMb = objects.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) / 1e6;
    const heapMb = process.memoryUsage().heapUsed / 1e6;
    samples.push(
      `day ${day}: CPU ${(cpuS() - startedS).toFixed(1)} s, heap ${heapMb.toFixed()} MB, ${rows} rows, ${objects.length} objects of ${sizeMb.toFixed(1)} MB`,
    );
  };
  const watch = async () => {
    for (let day = EVERY_DAYS; day * DAY_MS <= world.plan.calmFromMs; day += EVERY_DAYS) {
      await world.clock.sleep(day * DAY_MS - world.sinceStartMs());
      await sample(day);
    }
  };
  void watch();
  return (): readonly string[] => samples;
}

function cpuS(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
