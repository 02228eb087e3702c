import { openQueue } from '../../jobs/queue/open-queue.ts';
import type { Queue } from '../../jobs/queue/queue.ts';
import {
  type MovedDeadLetters,
  moveDeadLetters,
  type Redriven,
  type RedriveParts,
  redriveFailed,
} from '../../jobs/redrive.ts';
import { redriveBatch } from '../../jobs/redrive-batch.ts';
import { needed, readSyncSettings, type SyncSettings } from '../../settings.ts';
import type { Run } from '../commands.ts';
import { oneGiven } from '../errors/usage-error.ts';
import { openJobs } from '../jobs/open-jobs.ts';
import { commandLine } from '../options/command-lines.ts';
import {
  andMore,
  counted,
  exitCodes,
  inJson,
  shown,
  shownLines,
  type Terminal,
} from '../terminal/terminal.ts';

/** Reopens failed jobs and moves dead letters back. Does not need the platform. */
export default (async ([ids], { batch, json }, terminal) => {
  const { environment, signal } = terminal;
  const settings = readSyncSettings(environment);
  const queueUrl = needed(settings, 'SYNC_QUEUE_URL');
  oneGiven({ 'ids of jobs': ids[0], '--batch': batch });
  const { ledger, batches } = await openJobs(terminal);
  const queue = await openQueue(queueUrl, environment);
  const parts = { store: batches.store, ledger, batches, queue, signal };
  const report =
    batch === undefined
      ? await redriveJobs(ids, parts, settings, terminal)
      : await redriveOne(batch, parts, terminal);
  if (report === undefined) return exitCodes.failed;
  terminal.out(json ? inJson(report) : shownLines(describe(report)));
  const isAll = batch === undefined && ids.length === 0;
  return report.notSent.length === 0 && !report.held && (isAll || report.left.length === 0)
    ? exitCodes.done
    : exitCodes.incomplete;
}) satisfies Run<'redrive'>;

async function redriveJobs(
  ids: readonly string[],
  parts: RedriveParts & { readonly queue: Queue },
  settings: SyncSettings,
  terminal: Terminal,
): Promise<Report> {
  const redriven = await redriveFailed(ids, parts);
  const isAll = ids.length === 0;
  const dead = isAll ? await moveBack(settings, parts.queue, terminal) : null;
  const unknown = isAll
    ? await unknownIds(parts.ledger)
    : redriven.left.filter(({ state }) => state === 'UNKNOWN').map(({ id }) => id);
  return {
    ...redriven,
    notSent: [...redriven.notSent, ...(dead?.notMoved ?? [])],
    unknown,
    movedBack: dead?.moved ?? null,
    held: dead?.held ?? null,
  };
}

/** What happened to the chunks of a batch; undefined if there is no such batch, which is reported. */
async function redriveOne(
  batch: string,
  parts: RedriveParts,
  { err }: Terminal,
): Promise<Report | undefined> {
  const redriven = await redriveBatch(batch, parts);
  if (redriven.chunks > 0) return { ...redriven, unknown: [], movedBack: null, held: null };
  err(shown(`platform-sync: batch ${batch}: not in the table`));
  return undefined;
}

/** The dead letters that were moved; null if no dead-letter queue is set. */
async function moveBack(
  { SYNC_DEAD_LETTER_URL: url }: SyncSettings,
  queue: Queue,
  { environment, signal, polls }: Terminal,
): Promise<MovedDeadLetters | null> {
  if (url === undefined) return null;
  return moveDeadLetters({ from: await openQueue(url, environment, 'dead'), to: queue, polls, signal });
}

async function unknownIds(ledger: RedriveParts['ledger']): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { id, state } of ledger.list()) if (state === 'UNKNOWN') ids.push(id);
  return ids.sort();
}

type Report = Redriven & {
  readonly unknown: readonly string[];
  readonly movedBack: number | null;
  readonly held: number | null;
};

/** The most ids of a kind that are listed; `--json` lists all. */
const NAMED = 20;

function describe({ opened, left, notSent, unknown, movedBack, held }: Report): string {
  const others = left.filter(({ state }) => state !== 'UNKNOWN').map(({ id, state }) => `${id} (${state})`);
  const isNothing = opened.length + left.length + notSent.length === 0;
  return [
    opened.length === 0
      ? `nothing was reopened${isNothing ? ': none has failed' : ''}`
      : `reopened, and on the queue again: ${counted(opened.length, 'job')}`,
    ...named(opened),
    ...(opened.length === 0 ? [] : [`to run them here: ${commandLine(['work'], { drain: true })}`]),
    ...(movedBack === null ? [] : [`dead letters moved back: ${movedBack}`]),
    ...(held ? [`dead letters that somebody else holds, most likely: ${held}`] : []),
    ...(others.length === 0 ? [] : [`left unchanged: ${others.length}`, ...named(others)]),
    ...(notSent.length === 0
      ? []
      : [
          `could not be sent, so the next redrive tries them again: ${notSent.length}`,
          ...named(notSent.map(({ id, error }) => `${id} (${error})`)),
        ]),
    ...(unknown.length === 0
      ? []
      : [
          `unknown, never reopened: ${unknown.length}; each may have been executed, so a person must check it`,
          ...named(unknown),
        ]),
  ].join('\n');
}

const named = (ids: readonly string[]) => [
  ...ids.slice(0, NAMED).map((id) => `  ${id}`),
  ...andMore(ids.length - NAMED).map((line) => `  ${line}`),
];
