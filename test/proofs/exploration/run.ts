import { parseArgs } from 'node:util';
import { numberOption, oneOf, readUsage, wrong } from '../usage.ts';
import { brokenCopies } from './broken-copies.ts';
import { type Explored, type ExploreOptions, explore } from './explore.ts';
import { bounds, faultKinds, type ScenarioName, scenarios } from './scenario.ts';
import { storyOf } from './story.ts';

/*
 * Explores every scenario and every broken copy: `npm run explore`, in about a minute, or
 * `npm run explore -- --bound hour`. `--scenario` and `--faults` select one scenario and its number of faults,
 * `--only 'a kill'` the kinds of faults, `--copy` one broken copy; `--schedule` prints the steps of one schedule.
 * The last line is `N passed, N failed`.
 */

const { values } = readUsage(() =>
  parseArgs({
    options: {
      bound: { type: 'string', default: 'minute' },
      scenario: { type: 'string' },
      faults: { type: 'string' },
      only: { type: 'string', multiple: true },
      copy: { type: 'string' },
      schedule: { type: 'string' },
    },
  }),
);

const names = Object.keys(scenarios) as readonly ScenarioName[];

type Task = {
  readonly title: string;
  readonly options: ExploreOptions;
  readonly mustBreak: boolean;
  readonly again: string;
};

function scenarioTask(name: ScenarioName, faults: number): Task {
  const only = values.only?.map((each) => oneOf('--only', each, faultKinds));
  const scenario = { ...scenarios[name], ...(only === undefined ? {} : { only }) };
  const kinds = (only ?? []).map((each) => ` --only '${each}'`).join('');
  const again = `--scenario '${name}' --faults ${faults}${kinds}`;
  return { title: `${name}${kinds}`, options: { scenario, faults }, mustBreak: false, again };
}

function copyTask(name: string): Task {
  const copy = brokenCopies[oneOf('--copy', name, Object.keys(brokenCopies))];
  if (copy === undefined) throw new Error(`no copy ${name}`);
  const { only, faults, breaks } = copy;
  const scenario = { ...scenarios[copy.in], ...(only === undefined ? {} : { only }) };
  const options = { scenario, copy, faults, breaks };
  return { title: `broken: ${name}`, options, mustBreak: true, again: `--copy '${name}'` };
}

function tasks(): readonly Task[] {
  if (values.copy !== undefined) return [copyTask(values.copy)];
  const bound = bounds[oneOf('--bound', values.bound, Object.keys(bounds) as (keyof typeof bounds)[])];
  const faultsIn = (name: ScenarioName) =>
    values.faults === undefined ? bound[name] : numberOption('faults', values.faults);
  if (values.scenario !== undefined) {
    const name = oneOf('--scenario', values.scenario, names);
    return [scenarioTask(name, faultsIn(name))];
  }
  return [
    ...names.map((name) => scenarioTask(name, faultsIn(name))),
    ...Object.keys(brokenCopies).map(copyTask),
  ];
}

/** The choices in `--schedule`. Throws unless a scenario or a copy is named too. */
function schedule(): readonly number[] | undefined {
  const { schedule: given, scenario, copy } = values;
  if (given === undefined) return undefined;
  if (scenario === undefined && copy === undefined)
    throw wrong('--schedule', '--scenario or --copy with it', given);
  return given.split('.').map((step) => numberOption('schedule', step));
}

function line({ title, options }: Task, explored: Explored, seconds: number): string {
  const { states, steps, depth, rests, histories } = explored;
  const rate = Math.round(states / seconds);
  return `${title}: at most ${options.faults} faults, ${states} states, ${steps} steps, ${histories} runs, depth ${depth}, ${rests} ends, ${seconds.toFixed(1)} s of CPU, ${rate} states/s, ${Math.round(process.resourceUsage().maxRSS / 1_024)} MB`;
}

/** True if the exploration found what it should: a violation in a broken copy, none otherwise. */
async function run(task: Task): Promise<boolean> {
  const { options, mustBreak, again } = task;
  const started = process.cpuUsage();
  const since = () => process.cpuUsage(started).user / 1_000_000;
  const onProgress = (explored: Explored) => console.error(line(task, explored, since()));
  const explored = await explore({ ...options, onProgress });
  const { violation } = explored;
  console.log(
    `${(violation !== undefined) === mustBreak ? 'ok' : 'FAILED'}: ${line(task, explored, since())}`,
  );
  if (violation !== undefined) {
    for (const each of await storyOf(options, violation.schedule)) console.log(`    ${each}`);
    console.log(`    again: npm run explore -- ${again} --schedule ${violation.schedule.join('.')}`);
  }
  return (violation !== undefined) === mustBreak;
}

const { todo, replayed } = readUsage(() => ({ todo: tasks(), replayed: schedule() }));
const [task] = todo;
if (task !== undefined && replayed !== undefined) {
  for (const each of await storyOf(task.options, replayed)) console.log(each);
} else {
  let [passed, failed] = [0, 0];
  for (const each of todo) {
    if (await run(each)) passed += 1;
    else failed += 1;
  }
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
}
