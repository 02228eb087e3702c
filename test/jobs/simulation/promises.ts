import { createLedger } from '../../../lib/jobs/ledger/create-ledger.ts';
import { type EndedJobRow, hasEnded } from '../../../lib/jobs/ledger/job-row.ts';
import { refusedKey } from '../../../lib/jobs/refused.ts';
import { type Ended, hasSoundWorkers, type Result, readResult } from './ended.ts';
import { isOf, startsOf } from './people.ts';
import { type JobPlan, mayRepeat } from './plan.ts';
import { checkScores } from './score-promises.ts';

/** Checks a finished schedule against every promise. */
export async function checkPromises(ended: Ended): Promise<void> {
  for (const [index, job] of ended.plan.jobs.entries()) await checkJob(job, index + 1, ended);
  await checkRefusals(ended);
  await checkScores(ended);
}

async function checkJob(job: JobPlan, number: number, ended: Ended): Promise<void> {
  const { scene, idOf, broken, finished } = ended;
  const id = idOf(number);
  const row = await createLedger({ table: scene.table, now: scene.world.now }).read(id);
  const keys = (await Array.fromAsync(scene.store.list('results/')))
    .map(({ key }) => key)
    .filter((key) => key.endsWith(`/${id}.json`));
  if (row === undefined || !hasEnded(row)) return broken(`${id} did not end: ${row?.state ?? 'no row'}`);
  const [key, ...others] = keys;
  if (key === undefined || others.length > 0) return broken(`${id} has ${keys.length} results`);
  const result = await readResult(key, scene);
  checkSends(job, number, result, ended);
  if (isStranded(id, row, ended)) return;
  checkResult(id, result, row, ended);
  checkResponses(id, number, result, ended);
  const why = unexplained(job, number, result, row, ended);
  if (why !== undefined) broken(`${id} ended ${result.status} (${result.error?.message}): ${why}`);
  if (!finished.get(id)?.has(row.outcome.status))
    broken(`it was not reported that ${id} ended ${row.outcome.status}`);
}

/**
 * The limit of what a worker can do: a late response turns UNKNOWN into DONE after the message is gone, and if its
 * worker then dies or the store is unavailable, nobody returns to make that visible.
 */
function isStranded(id: string, row: EndedJobRow, { scene, finished }: Ended): boolean {
  const wasTroubled = scene.witness.tries.some(
    (each) => each.id === id && each.process.troubles > each.troubles,
  );
  return row.state === 'DONE' && finished.get(id)?.has('unknown') === true && wasTroubled;
}

function checkResult(id: string, result: Result, row: EndedJobRow, { broken }: Ended): void {
  const shown = [result.status, result.attempts, Date.parse(result.finishedAt)];
  const known = [row.outcome.status, row.attempts, row.finishedAt];
  if (String(shown) !== String(known)) broken(`the result of ${id} shows ${shown}, the ledger ${known}`);
}

/** What may not be repeated is executed once, and once more each time that somebody reopens it. */
function checkSends(job: JobPlan, number: number, result: Result, { plan, scene, meddling, broken }: Ended) {
  const { started, executed } = scene.platform;
  const reopened = meddling.reopened.filter((each) => each.job === number);
  const executions = startsOf(number, executed);
  if (!mayRepeat(job) && executions > 1 + reopened.length)
    broken(`subject-${number} was executed ${executions} times`);
  if (job.type !== 'run-function' && job.type !== 'update-formula') return;
  const sends = startsOf(number, started) - (reopened.at(-1)?.sends ?? 0);
  // A worker that dies, or loses the response of the table, may have counted a send that never left.
  const mayExceed = !hasSoundWorkers(plan);
  // A send by a fence that has lost its job is no longer counted, and only a repeatable job can have one.
  const mayFallShort = mayExceed && mayRepeat(job);
  if ((result.attempts > sends && !mayExceed) || (result.attempts < sends && !mayFallShort))
    broken(`the result of job-${number} shows ${result.attempts} attempts, but there were ${sends} sends`);
}

/** The result holds every response that reached a worker which lived to record it. */
function checkResponses(id: string, number: number, result: Result, ended: Ended): void {
  const { scene, meddling, broken } = ended;
  const { witness, platform } = scene;
  for (const { subject, process, execution, troubles } of platform.delivered) {
    if (!isOf(subject, number) || process.troubles !== troubles) continue;
    if (![...witness.offered].some((response) => response.includes(`"${execution}"`)))
      broken(`the response of ${execution} reached ${process.name}, which never recorded it`);
  }
  const lastReopened = meddling.reopened.filter((each) => each.job === number).at(-1)?.fence ?? 0;
  for (const end of witness.ends) {
    if (end.id !== id || end.fence < lastReopened || end.response === 'undefined') continue;
    if (JSON.stringify(JSON.parse(end.response)) !== JSON.stringify(result.response))
      broken(`${id} ended with ${end.response}, and its result has ${JSON.stringify(result.response)}`);
  }
}

/** Why a job must not have ended as it did; undefined if it may have. */
function unexplained(
  job: JobPlan,
  number: number,
  result: Result,
  row: EndedJobRow,
  { plan, scene }: Ended,
): string | undefined {
  const { platform, witness, world } = scene;
  const kind = result.error?.kind;
  if (row.state === 'UNKNOWN' && !mayRepeat(job) && !mayHaveLeft(row, number, scene))
    return 'nothing left, and the worker that knows it lived';
  const end = job.type === 'run-function' ? job.end : 'SUCCESS';
  if (result.status === 'done') return end === 'SUCCESS' ? undefined : `its function ended ${end}`;
  // One that was never sent runs again, unless it is cancelled first.
  if (kind === 'cancelled' || kind === 'never-sent')
    return witness.cancelled.has(row.id) ? undefined : 'nobody cancelled it';
  if (kind === 'execution' || kind === 'running')
    return end === (kind === 'running' ? 'RUNNING' : 'FAILED') ? undefined : `its function ended ${end}`;
  // A worker that loses the table's response leaves a lease that expires, as if it had died.
  const { crashes, pauses } = world.counts;
  const isShaken = plan.troubles.some((each) => each === 'table' || each === 'clock');
  if (kind === 'workers-died')
    return isShaken || crashes + pauses >= 10 ? undefined : `${crashes} died, ${pauses} paused`;
  if (kind === 'answer-lost' || kind === 'internal')
    return isShaken || crashes + pauses > 0 ? undefined : 'no worker had any trouble';
  const faults = platform.troubled.filter((subject) => isAbout(subject, job, number)).length;
  const attempts = result.status === 'failed' || mayRepeat(job) ? 5 : 1;
  return faults > 0 && result.attempts >= attempts
    ? undefined
    : `the platform had ${faults} faults for it in ${result.attempts} attempts`;
}

/** Whether the send of a row may have left, or nobody is there to know: its worker died, or never heard of its claim. */
function mayHaveLeft(row: EndedJobRow, number: number, { witness, platform }: Ended['scene']): boolean {
  const holder = witness.holderOf(row);
  if (holder === undefined || holder.process.hasDied) return true;
  const { process, sinceMs } = holder;
  return platform.started.some(
    (each) => each.process === process && each.atMs >= sinceMs && isOf(each.subject, number),
  );
}

/** Whether a request was made for a job; a text may belong to several. */
const isAbout = (subject: string, job: JobPlan, number: number): boolean =>
  job.type === 'score'
    ? subject.startsWith('text ')
    : isOf(subject, number) || subject.includes(`/${number}`);

/** Messages that could not become jobs are stored, and no others. */
async function checkRefusals({ scene, sent, meddling, nonsense, broken }: Ended): Promise<void> {
  const isRefused = async (messageId: string) => (await scene.store.get(refusedKey(messageId))) !== undefined;
  for (const messageId of nonsense)
    if (!(await isRefused(messageId))) broken(`${messageId} is nonsense, and was not refused`);
  for (const [number, messageIds] of sent) {
    const others = meddling.otherContents.filter(({ job }) => job === number);
    const refused = await Promise.all(messageIds.map(isRefused));
    const otherRefused = await Promise.all(others.map(({ messageId }) => isRefused(messageId)));
    const isTheirs = otherRefused.includes(false);
    if (refused.includes(true) && !isTheirs) broken(`a message of job ${number} was refused`);
    if (refused.includes(false) && isTheirs && !scene.witness.cancelled.has(`job-${number}`))
      broken(`two contents of job ${number} were accepted`);
  }
}
