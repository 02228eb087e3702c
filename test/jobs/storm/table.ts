import type { After } from './after.ts';
import type { StormPlan } from './plan.ts';
import { batchCost, executionsOf, seconds } from './promises.ts';

/** What happened in a storm, as the lines of a table. */
export function stormTable(plan: StormPlan, after: After): string {
  const { results, jobs, summary, counts } = after;
  const times = (kind: string) => plan.events.filter((event) => event.kind === kind).length;
  const executed = [...executionsOf(after).values()];
  const onceOnly = [...jobs.values()].filter(({ body, mayRepeat }) => isFunction(body) && !mayRepeat);
  const texts = Object.values(counts.sentimentCalls);
  const { distinct, paid } = batchCost(after);
  const statuses = (['done', 'failed', 'unknown'] as const)
    .map((status) => `${results.filter((result) => result.status === status).length} ${status}`)
    .join(', ');
  const rows: readonly (readonly [string, string])[] = [
    ['seed', String(plan.seed)],
    [
      'storm',
      `${seconds(after.stormMs)}, ${times('kill')} kills, ${times('stop')} stops, ${times('spell')} spells`,
    ],
    ['jobs', `${jobs.size}: ${statuses}`],
    [
      'functions',
      `${executed.length} ran once or more, ${executed.filter((n) => n > 1).length} more than once`,
    ],
    ['functions that may run once only', `${onceOnly.length}, ${doubles(after)} ran twice`],
    ['responses of the platform that were lost', String(after.hidden)],
    ['texts paid', `${texts.length}, in ${texts.reduce((sum, n) => sum + n, 0)} calls`],
    [
      'batch',
      `${distinct} texts paid for ${paid} times; summary: ${summary?.calls} calls, ${summary?.paidAgain} paid again, ${summary?.cached} cached`,
    ],
    [
      'time to recover',
      `${seconds(after.recoveredMs)}, with a backlog of ${after.backlog} jobs${inCalm(after)}`,
    ],
    ['most requests within one second', `${after.mostInOneSecond}, at a rate of ${after.rate}`],
    ['rate then', `${Math.round(after.rateShare * 100)} %`],
  ];
  return rows.map(([name, value]) => `| ${name} | ${value} |`).join('\n');
}

const isFunction = ({ type }: { readonly type: string }) => type === 'run-function';

const inCalm = ({ calmBacklogMs }: After) =>
  calmBacklogMs === undefined ? '' : `, which take ${seconds(calmBacklogMs)} in calm`;

function doubles(after: After): number {
  const executed = executionsOf(after);
  return [...after.jobs.values()].filter(
    ({ body, mayRepeat, subjects }) =>
      isFunction(body) && !mayRepeat && (executed.get(subjects[0] ?? '') ?? 0) > 1,
  ).length;
}
