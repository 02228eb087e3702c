import type { PlatformCounter } from './counts.ts';
import type { FileSet } from './files/file-set.ts';
import { type Random, randomFor } from './records/random.ts';
import type { PlatformState } from './state.ts';

/** How often each change was made, by its name: `calculation added`, `file deleted`, … */
export type ChurnCounts = Readonly<Record<string, number>>;

/** Changes records while they are read. Step n makes the same change in every run that starts with the same records. */
export type Churn = {
  run(steps: number): ChurnCounts;
};

export function createChurn(state: PlatformState, counter: PlatformCounter): Churn {
  let taken = 0;
  return {
    run(steps) {
      const done: Record<string, number> = {};
      for (let step = 0; step < steps; step += 1) {
        taken += 1;
        const what = churnOne(state, randomFor(state.seed, 'churn', taken));
        counter.churned(what);
        done[what] = (done[what] ?? 0) + 1;
      }
      return done;
    },
  };
}

const FILE_SHARE = 0.25;

function churnOne(state: PlatformState, random: Random): string {
  const ofFile = random.chance(FILE_SHARE) && state.fileSets.length > 0;
  return ofFile ? churnFile(random.pick(state.fileSets), random) : churnCalculation(state, random);
}

function churnFile(fileSet: FileSet, random: Random): string {
  const draw = random.next();
  const rows = fileSet.rows();
  const row = rows[random.below(rows.length)];
  if (draw < 0.35 || row === undefined) {
    fileSet.add();
    return 'file added';
  }
  if (draw < 0.65) {
    fileSet.delete(row.id);
    return 'file deleted';
  }
  fileSet.change(row.id, { indexStatus: random.pick(['QUEUED', 'IN_PROGRESS', 'COMPLETED', 'FAILED']) });
  return 'file changed';
}

function churnCalculation({ calculations }: PlatformState, random: Random): string {
  const draw = random.next();
  const live = calculations.byId();
  const sequence = live[random.below(live.length)];
  if (draw < 0.35 || sequence === undefined) {
    calculations.add();
    return 'calculation added';
  }
  const { id, name, archived } = calculations.at(sequence);
  if (draw < 0.65) {
    calculations.delete(id);
    return 'calculation deleted';
  }
  calculations.change(id, random.chance(0.5) ? { name: `${name} ·` } : { archived: !archived });
  return 'calculation changed';
}
