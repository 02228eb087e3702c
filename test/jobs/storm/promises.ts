import type { After, Result } from './after.ts';
import type { StormJob } from './jobs.ts';
import type { StormPlan } from './plan.ts';
import { hashName } from './witness.ts';

/** Every broken promise as a line; empty if all were kept. */
export const brokenPromises = (after: After, plan: Pick<StormPlan, 'events'>): readonly string[] => [
  ...after.open,
  ...after.crashes,
  ...after.tooSoon,
  ...rateBroken(after),
  ...jobsBroken(after),
  ...formulasBroken(after),
  ...textsBroken(after),
  ...batchBroken(
    after,
    TEXTS_RECORDED * plan.events.filter(({ kind }) => kind === 'kill' || kind === 'stop').length,
  ),
  ...(after.dead === 0 ? [] : [`${after.dead} messages are dead letters`]),
  ...(after.refused === 0 ? [] : [`${after.refused} messages were refused`]),
];

/** A tenth above the rate is allowed, since a busy machine delivers requests in bursts. */
const rateBroken = ({ rate, mostInOneSecond }: After): readonly string[] =>
  mostInOneSecond <= 1.1 * rate
    ? []
    : [`${mostInOneSecond} requests within one second, at a rate of ${rate}`];

/** The number of executions by first input. */
function executionsOf({ counts }: Pick<After, 'counts'>): ReadonlyMap<string, number> {
  const executed = new Map<string, number>();
  for (const { inputVariables } of counts.executions) {
    const name = `first:${(inputVariables as { readonly first: number }).first}`;
    executed.set(name, (executed.get(name) ?? 0) + 1);
  }
  return executed;
}

function jobsBroken(after: After): readonly string[] {
  const executed = executionsOf(after);
  const seen = new Set<string>();
  return after.results.flatMap((result) => {
    const { id } = result;
    const job = after.jobs.get(id);
    if (job === undefined) return [`there is a result for ${id}, which nobody asked for`];
    if (seen.has(id)) return [`job ${id} has two results`];
    seen.add(id);
    return [
      ...statusBroken(result, job, after),
      ...executionsBroken(result, job, { executed, excuses: after.excuses }),
    ];
  });
}

/** No job fails permanently in a storm, and no outcome is `unknown` that could be known. */
function statusBroken(
  { id, status, error }: Result,
  { subjects }: StormJob,
  after: After,
): readonly string[] {
  if (status === 'done') return [];
  const shown = `job ${id} is ${status} (${error?.kind}: ${error?.message})`;
  if (status === 'failed') return [`${shown}, though nothing failed for good`];
  const isExcused = [`job:${id}`, ...subjects].some((name) => after.excuses.has(name));
  return isExcused ? [] : [`${shown}, though no fault hid the outcome of its send`];
}

function executionsBroken(
  { id, status }: Result,
  { body, subjects, mayRepeat }: StormJob,
  { executed, excuses }: Pick<After, 'excuses'> & { readonly executed: ReadonlyMap<string, number> },
): readonly string[] {
  if (body.type !== 'run-function') return [];
  const times = executed.get(subjects[0] ?? '') ?? 0;
  const hidden = [`job:${id}`, ...subjects].reduce((sum, name) => sum + (excuses.get(name) ?? 0), 0);
  const max = mayRepeat ? 1 + hidden : 1;
  return [
    ...(times > max
      ? [`the function of job ${id} ran ${times} times, and its outcome was hidden ${hidden} times`]
      : []),
    ...(status === 'done' && times === 0 ? [`job ${id} is done, but its function never ran`] : []),
    ...(status === 'failed' && times > 0 ? [`job ${id} failed, but its function ran`] : []),
  ];
}

/** Each update was made at most once, and exactly once if its job is done. Three jobs share a calculation. */
function formulasBroken({ jobs, results, counts }: After): readonly string[] {
  const byCalculation = Map.groupBy(
    results.filter(({ id }) => jobs.get(id)?.body.type === 'update-formula'),
    ({ id }) => String(jobs.get(id)?.body['calculationId']),
  );
  return [...byCalculation].flatMap(([calculation, ofIt]) => {
    const times = counts.formulaUpdates[calculation] ?? 0;
    const done = ofIt.filter(({ status }) => status === 'done').length;
    const open = ofIt.filter(({ status }) => status === 'unknown').length;
    return times < done || times > done + open
      ? [`calculation ${calculation} was set ${times} times: ${done} jobs are done, ${open} unknown`]
      : [];
  });
}

/** A text is paid for again only if a fault hid its score. */
function textsBroken({ counts, excuses }: After): readonly string[] {
  return Object.entries(counts.sentimentCalls).flatMap(([text, times]) => {
    const hidden = (excuses.get(`text:${text}`) ?? 0) + (excuses.get(hashName(text)) ?? 0);
    return times > 1 + hidden
      ? [`"${text}" was paid for ${times} times, and its score was hidden ${hidden} times`]
      : [];
  });
}

/** How often the platform was paid for the batch's texts. */
function batchCost({ batchTexts, counts }: After) {
  const distinct = [...new Set(batchTexts)];
  const paid = distinct.reduce((sum, text) => sum + (counts.sentimentCalls[text] ?? 0), 0);
  return { distinct: distinct.length, paid };
}

/** Maximum number of texts of one process that are recorded as sent while they wait for their slots. */
const TEXTS_RECORDED = 2;

function batchBroken(after: After, cutShort: number): readonly string[] {
  const { summary, batchTexts, excuses } = after;
  if (summary === undefined) return [];
  const { distinct, paid } = batchCost(after);
  const { rows, scored, failed, cached, calls, paidAgain } = summary;
  const hidden = [...new Set(batchTexts)].reduce(
    (sum, text) => sum + (excuses.get(`text:${text}`) ?? 0) + (excuses.get(hashName(text)) ?? 0),
    0,
  );
  const shown = `summary: ${JSON.stringify({ rows, scored, failed, cached, calls, paidAgain })}; ${distinct} texts, paid for ${paid} times, hidden ${hidden} times`;
  return [
    ...(rows === batchTexts.length && scored + failed === rows ? [] : [`rows are missing: ${shown}`]),
    ...(failed === 0 || hidden > 0 ? [] : [`rows failed: ${shown}`]),
    ...(paid <= calls ? [] : [`calls are not counted: ${shown}`]),
    // A worker that is killed or loses its lease after it recorded a send and before it sent leaves a call that must be
    // counted, since it might have been sent.
    ...(calls <= paid + hidden + cutShort
      ? []
      : [`more calls are counted than may have been paid for: ${shown}`]),
    ...(paid - distinct <= paidAgain ? [] : [`calls paid again are not counted: ${shown}`]),
  ];
}
