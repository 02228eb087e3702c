import { openRedrive, WAS_EXECUTED } from '../../jobs/index.ts';
import { batchNames } from '../../jobs/texts/index.ts';
import { needed, readSyncSettings } from '../../settings.ts';
import type { Run } from '../command.ts';
import { oneGiven, unknownError, unknownJob } from '../errors/usage-error.ts';
import { openJobs } from '../jobs/open-jobs.ts';
import { commandLine } from '../options/command-lines.ts';
import { isSure } from '../terminal/questions.ts';
import { counted, firstOf, shown, type Terminal } from '../terminal/terminal.ts';

/** Reopens failed jobs and moves dead letters back. Does not need the platform. */
export default (async ([ids], { batch, executed = false, yes }, terminal) => {
  const { environment, signal, polls } = terminal;
  needed(readSyncSettings(environment), 'SYNC_QUEUE_URL');
  oneGiven({ 'ids of jobs': ids[0], '--batch': batch });
  const { ledger, batches } = await openJobs(terminal);
  const redrive = await openRedrive({ environment, ledger, batches, signal, executed, polls });
  for (const id of ids) if (!(await redrive.isKnown(id))) throw await unknownJob(id, ledger);
  if (batch === undefined && !(await isConfirmed(await redrive.executedAgain(ids), yes, terminal)))
    return 'failed';
  const report = batch === undefined ? await redrive.jobs(ids) : await redrive.batch(batch);
  if (report.chunks === 0)
    throw unknownError('batch', batch ?? '', 'not in the ledger', await batchNames(batches.store));
  const isAll = batch === undefined && ids.length === 0;
  const isDone = report.notSent.length === 0 && !report.held && (isAll || report.left.length === 0);
  return { json: report, words: describe(report), ended: isDone ? 'done' : 'incomplete' };
}) satisfies Run<'redrive'>;

/** Lists the jobs that would be executed again, and asks for confirmation. Throws errors of `isSure`. */
async function isConfirmed(
  again: Awaited<ReturnType<Awaited<ReturnType<typeof openRedrive>>['executedAgain']>>,
  yes: true | undefined,
  terminal: Terminal,
): Promise<boolean> {
  if (again.length === 0) return true;
  const lines = again.map(({ id, type, outcome }) => `${id} (${type}): ${outcome?.error?.message ?? ''}`);
  for (const line of ['executed by the platform, to be run again:', ...firstOf(lines, MAX_IDS)])
    terminal.err(shown(line));
  const words = { does: 'runs jobs again that were already executed', undone: 'reopened' };
  return isSure(`Run ${counted(again.length, 'job')} again?`, yes, terminal, words);
}

/** Maximum ids in each list; `--json` lists all ids. */
const MAX_IDS = 20;

function describe(
  options: Awaited<ReturnType<Awaited<ReturnType<typeof openRedrive>>['jobs']>>,
): readonly string[] {
  const { opened, left, notSent, unknown, movedBack, held } = options;
  const others = left.flatMap(({ id, status, why }) =>
    status === 'unknown' ? [] : [`${id} (${why ?? status})`],
  );
  const isNothing = opened.length + left.length + notSent.length === 0;
  return [
    opened.length === 0
      ? `nothing was reopened${isNothing ? ': no job has failed' : ''}`
      : `reopened, and on the queue again: ${counted(opened.length, 'job')}`,
    ...firstOf(opened, MAX_IDS),
    ...(opened.length === 0 ? [] : [`to run them here: ${commandLine(['work'], { drain: true })}`]),
    ...(movedBack === null ? [] : [`dead letters moved back: ${movedBack}`]),
    ...(held ? [`dead letters that another process has most likely received: ${held}`] : []),
    ...(others.length === 0 ? [] : [`left unchanged: ${others.length}`, ...firstOf(others, MAX_IDS)]),
    ...(left.some(({ why }) => why === WAS_EXECUTED)
      ? ['executed: the job failed after the platform executed it; to run it again, use its id or --executed']
      : []),
    ...(notSent.length === 0
      ? []
      : [
          `could not be sent, so the next redrive tries them again: ${notSent.length}`,
          ...firstOf(
            notSent.map(({ id, error }) => `${id} (${error})`),
            MAX_IDS,
          ),
        ]),
    ...(unknown.length === 0
      ? []
      : [
          `unknown, never reopened: ${unknown.length}; they may have been executed, so check each of them on the platform`,
          ...firstOf(unknown, MAX_IDS),
        ]),
  ];
}
