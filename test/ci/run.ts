import { runStage, type StageOutcome } from './run-stage.ts';
import { fetching, turns } from './stages.ts';

/*
 * `npm run everything`: all checks that a change must pass, in at most 40 minutes on two cores. A stage that hangs is
 * ended and fails. The last lines list what was flaky, what could not be fetched and what failed, and then
 * `N passed, N failed`.
 */

/** After this time everything is ended, even stages that hang: CI has 90 minutes including the installation. */
const ALL_MINUTES = 58;

const stopped = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(name, () => stopped.abort(`stopped by ${name}`));
setTimeout(
  () => stopped.abort(`all stages together took longer than ${ALL_MINUTES} min`),
  ALL_MINUTES * 60_000,
).unref();

const outcomes: StageOutcome[] = [];
async function run(stages: (typeof turns)[number][number]): Promise<void> {
  for (const stage of stages) {
    const outcome = await runStage(stage, { signal: stopped.signal, print: console.log });
    console.log(`${stage.name} ended after ${outcome.minutes.toFixed(1)} min`);
    outcomes.push(outcome);
  }
}

const fetched = run([fetching]);
for (const lanes of turns) await Promise.all(lanes.map(run));
await fetched;

console.log('\n| stage | passed | failed | minutes |\n|---|---|---|---|');
for (const { name, passed, failed, minutes } of outcomes)
  console.log(`| ${name} | ${passed} | ${failed} | ${minutes.toFixed(1)} |`);
for (const note of new Set(outcomes.flatMap(({ notes }) => notes))) console.log(note);
const sumOf = (count: 'passed' | 'failed') => outcomes.reduce((sum, outcome) => sum + outcome[count], 0);
console.log(`${sumOf('passed')} passed, ${sumOf('failed')} failed`);
process.exitCode = sumOf('failed') > 0 || sumOf('passed') === 0 ? 1 : 0;
