import { compareSnapshots } from './compare-snapshots.ts';
import { raceJobs } from './jobs-records.ts';
import { type Contender, isOurs, openStage, outcomeOf, runJobs, type Took } from './jobs-run.ts';

/*
 * `npm run compare`: runs the same code functions with a loop, p-queue, Powertools and platform-sync, while responses
 * are lost, the platform throttles and the process is killed. Reports what ran twice, what has no result, and the time
 * of each. Then it compares snapshots with dlt.
 */

const COUNT = 200;

const CONTENDERS = {
  loop: 'a loop, 3 tries',
  'p-queue': 'p-queue, 3 tries',
  recommended: 'Powertools, as its manual says',
  'per-call': 'Powertools, around each call',
  careful: 'Powertools, by an expert',
  ours: 'platform-sync',
  sqlite: 'platform-sync, a folder alone',
} as const satisfies Readonly<Partial<Record<Contender, string>>>;

const WEATHERS = [
  { what: 'each tenth response lost', faults: { loseEvery: 10 }, kills: 0 },
  { what: 'a second of 429', faults: { burstEvery: 100, maxBursts: 1 }, kills: 0 },
  { what: 'twice kill -9', faults: {}, kills: 2 },
] as const;

await using stage = await openStage();
console.log(`${COUNT} functions each; nothing but this machine is reached.\n`);
console.log(
  '| what goes wrong | by | ran twice | lost | said to be unknown | failed | requests to AWS each | CPU ms each |',
);
console.log('|---|---|---|---|---|---|---|---|');
for (const { what, faults, kills } of WEATHERS)
  for (const [name, words] of Object.entries(CONTENDERS) as [Contender, string][]) {
    const jobs = raceJobs('functions', `${name}-${what.replaceAll(' ', '-')}`, COUNT);
    stage.server.setFaults(faults);
    const took = await runJobs(stage, name, { jobs, kills });
    stage.server.setFaults({});
    const { doubles, lost, unknown, failed } = outcomeOf(stage, name, jobs);
    if (isOurs(name) && doubles + lost + failed > 0) process.exitCode = 1;
    console.log(`| ${[what, words, doubles, lost, unknown, failed, ...costOf(took)].join(' | ')} |`);
  }
console.log(
  '\nLost: no result and no word of it. Unknown: whether it ran is not known, and it is not sent again without your word.',
);

if ((await compareSnapshots()) > 0) process.exitCode = 1;

function costOf({ jobs, cpuMs, requests: { platform: _, ...toAws } }: Took): readonly string[] {
  const requests = Object.values(toAws).reduce((sum, count) => sum + count, 0);
  return [(requests / jobs).toFixed(1), (cpuMs / jobs).toFixed(1)];
}
