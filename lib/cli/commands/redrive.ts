import type { Ledger } from '../../jobs/ledger/ledger.ts';
import { ledgerCheckOf } from '../../jobs/ledger-check.ts';
import { openQueue } from '../../jobs/queue/open-queue.ts';
import type { Queue } from '../../jobs/queue/queue.ts';
import {
  EXECUTED,
  executedJobs,
  findFailedMessage,
  moveDeadLetters,
  type Redriven,
  type RedriveParts,
  redriveBatch,
  redriveFailed,
} from '../../jobs/redrive.ts';
import { batchNames } from '../../jobs/texts/batch/batch-status.ts';
import { spelled } from '../../model/rules/index.ts';
import { needed, readSyncSettings, type SyncSettings } from '../../settings.ts';
import type { Store } from '../../store/index.ts';
import type { Run } from '../command.ts';
import { oneGiven, unknownError, unknownJob } from '../errors/usage-error.ts';
import { openJobs } from '../jobs/open-jobs.ts';
import { commandLine } from '../options/command-lines.ts';
import { isSure } from '../terminal/questions.ts';
import { counted, firstOf, shown, type Terminal } from '../terminal/terminal.ts';

/** Reopens failed jobs and moves dead letters back. Does not need the platform. */
export default (async ([ids], { batch, executed = false, yes }, terminal) => {
  const { environment, signal } = terminal;
  const settings = readSyncSettings(environment);
  const queueUrl = needed(settings, 'SYNC_QUEUE_URL');
  oneGiven({ 'ids of jobs': ids[0], '--batch': batch });
  const { ledger, batches } = await openJobs(terminal);
  const queue = await openQueue(queueUrl, environment);
  await ledgerCheckOf(needed(settings, 'SYNC_TABLE'), environment)();
  for (const id of ids) if (!(await isKnown(id, batches.store, ledger))) throw await unknownJob(id, ledger);
  const parts = { store: batches.store, ledger, batches, queue, signal, executed };
  if (batch === undefined && !(await isMeant(ids, parts, yes, terminal))) return 'failed';
  const report: Report =
    batch === undefined
      ? await redriveJobs(ids, parts, settings, terminal)
      : { ...(await redriveBatch(batch, parts)), unknown: [], movedBack: null, held: null };
  if (report.chunks === 0)
    throw unknownError('batch', batch ?? '', 'not in the table', await batchNames(batches.store));
  const isAll = batch === undefined && ids.length === 0;
  const isDone = report.notSent.length === 0 && !report.held && (isAll || report.left.length === 0);
  return { json: report, words: describe(report), ended: isDone ? 'done' : 'incomplete' };
}) satisfies Run<'redrive'>;

/** Whether the ledger has a job, or at least its message is stored: its row may have expired. */
const isKnown = async (id: string, store: Store, ledger: Pick<Ledger, 'read'>): Promise<boolean> =>
  (await ledger.read(id)) !== undefined || (await findFailedMessage(store, id)) !== undefined;

/** Lists what would be done again, and asks. Throws `UsageError` where nobody is there to ask. */
async function isMeant(
  ids: readonly string[],
  parts: Parts,
  yes: true | undefined,
  terminal: Terminal,
): Promise<boolean> {
  const again = ids.length > 0 || parts.executed ? await executedJobs(ids, parts) : [];
  if (again.length === 0) return true;
  const lines = again.map(({ id, type, outcome }) => `${id} (${type}): ${outcome?.error?.message ?? ''}`);
  for (const line of ['executed by the platform, and to be done again:', ...firstOf(lines, NAMED)])
    terminal.err(shown(line));
  const words = { does: 'does again what was executed', undone: 'reopened' };
  return isSure(`Do ${counted(again.length, 'job')} again?`, yes, terminal, words);
}

type Parts = RedriveParts & { readonly queue: Queue; readonly executed: boolean };

/** Without ids all failed jobs, and the dead letters if their queue is set. */
async function redriveJobs(
  ids: readonly string[],
  parts: Parts,
  { SYNC_DEAD_LETTER_URL: url }: SyncSettings,
  { environment, signal, polls }: Terminal,
): Promise<Report> {
  const redriven = await redriveFailed(ids, parts);
  const isAll = ids.length === 0;
  const from = isAll && url !== undefined ? await openQueue(url, environment, 'dead') : undefined;
  const dead = from && (await moveDeadLetters({ from, to: parts.queue, polls, signal }));
  const known = isAll
    ? await Array.fromAsync(parts.ledger.list(), ({ id, state }) => ({ id, status: spelled(state) }))
    : redriven.left;
  return {
    ...redriven,
    notSent: [...redriven.notSent, ...(dead?.notMoved ?? [])],
    unknown: known.flatMap(({ id, status }) => (status === 'unknown' ? [id] : [])).sort(),
    movedBack: dead?.moved ?? null,
    held: dead?.held ?? null,
  };
}

type Report = Redriven & {
  /** Of a batch: how many it has; 0 if there is no such batch. */
  readonly chunks?: number;
  readonly unknown: readonly string[];
  readonly movedBack: number | null;
  readonly held: number | null;
};

/** The most ids of a kind that are listed; `--json` lists all. */
const NAMED = 20;

function describe({ opened, left, notSent, unknown, movedBack, held }: Report): readonly string[] {
  const others = left.flatMap(({ id, status, why }) =>
    status === 'unknown' ? [] : [`${id} (${why ?? status})`],
  );
  const isNothing = opened.length + left.length + notSent.length === 0;
  return [
    opened.length === 0
      ? `nothing was reopened${isNothing ? ': none has failed' : ''}`
      : `reopened, and on the queue again: ${counted(opened.length, 'job')}`,
    ...firstOf(opened, NAMED),
    ...(opened.length === 0 ? [] : [`to run them here: ${commandLine(['work'], { drain: true })}`]),
    ...(movedBack === null ? [] : [`dead letters moved back: ${movedBack}`]),
    ...(held ? [`dead letters that somebody else holds, most likely: ${held}`] : []),
    ...(others.length === 0 ? [] : [`left unchanged: ${others.length}`, ...firstOf(others, NAMED)]),
    ...(left.some(({ why }) => why === EXECUTED)
      ? ['executed: it failed, and its effects are there; only its id, or --executed, does it again']
      : []),
    ...(notSent.length === 0
      ? []
      : [
          `could not be sent, so the next redrive tries them again: ${notSent.length}`,
          ...firstOf(
            notSent.map(({ id, error }) => `${id} (${error})`),
            NAMED,
          ),
        ]),
    ...(unknown.length === 0
      ? []
      : [
          `unknown, never reopened: ${unknown.length}; each may have been executed, so a person must check it`,
          ...firstOf(unknown, NAMED),
        ]),
  ];
}
