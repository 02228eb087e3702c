import {
  type BatchStatus,
  batchNames,
  type FailedRow,
  failedRows,
  readBatchStatus,
} from '../../jobs/texts/index.ts';
import { StoredObjectError } from '../../store/index.ts';
import type { Run } from '../command.ts';
import { unknownError } from '../errors/usage-error.ts';
import { openJobs } from '../jobs/open-jobs.ts';
import { commandLine } from '../options/command-lines.ts';
import {
  andMore,
  type CommandResult,
  duration,
  inColumns,
  number,
  shown,
  type Terminal,
} from '../terminal/terminal.ts';
import { currentRate } from '../texts/current-rate.ts';

type CurrentRate = NonNullable<Awaited<ReturnType<typeof currentRate>>>;

/** Shows the progress of batches of texts, and which rows failed. Sends nothing. */
export default (async ([batch], { json }, terminal) =>
  batch === undefined ? listBatches(terminal) : showBatch(batch, json, terminal)) satisfies Run<'batches'>;

/** Maximum failed rows of a batch that are listed, in words and with --json. */
const MAX_ROWS = 20;
const MAX_ROWS_JSON = 1_000;

async function listBatches(terminal: Terminal): Promise<CommandResult> {
  const { batches: storage } = await openJobs(terminal);
  const found: BatchStatus[] = [];
  let broken = 0;
  for (const name of await batchNames(storage.store)) {
    terminal.signal.throwIfAborted();
    try {
      const status = await readBatchStatus(name, storage);
      if (status !== undefined) found.push(status);
    } catch (error) {
      // The other batches are listed even if this one is damaged.
      if (!(error instanceof StoredObjectError)) throw error;
      broken += 1;
      terminal.err(shown(`platform-sync: batch ${name}: ${error.message}`));
    }
  }
  const rate = await rateFor(found, terminal);
  const rows = found.map((each) => batchCells(each, rate));
  return {
    json: found.map((each) => withTime(each, rate)),
    words: rows.length === 0 ? 'no batches' : inColumns(HEADER, rows),
    ended: broken === 0 ? 'done' : 'incomplete',
  };
}

async function showBatch(batch: string, json: true | undefined, terminal: Terminal): Promise<CommandResult> {
  const { batches: storage } = await openJobs(terminal);
  const status = await readBatchStatus(batch, storage);
  if (status === undefined)
    throw unknownError('batch', batch, 'it does not exist', await batchNames(storage.store));
  const failures = await failedRows(batch, storage, json ? MAX_ROWS_JSON : MAX_ROWS);
  const rate = await rateFor([status], terminal);
  return { json: { ...withTime(status, rate), failures }, words: batchLines(status, failures, rate) };
}

/** The current rate; undefined if no batch has rows left, since it is not needed then. */
const rateFor = (found: readonly BatchStatus[], { environment }: Terminal) =>
  found.some(({ rowsLeft }) => rowsLeft !== null && rowsLeft > 0) ? currentRate(environment) : undefined;

/** Seconds for the remaining rows at one call each, so an upper bound; null if unknown. */
function secondsLeft({ rowsLeft }: BatchStatus, rate: CurrentRate | undefined): number | null {
  if (rowsLeft === 0) return 0;
  if (rowsLeft === null || rate === undefined || rate.isPaused) return null;
  return Math.ceil(rowsLeft / rate.rate);
}

const withTime = (status: BatchStatus, rate: CurrentRate | undefined) => ({
  ...status,
  secondsLeft: secondsLeft(status, rate),
});

const HEADER = ['BATCH', 'STATUS', 'ROWS', 'SCORED', 'FAILED', 'BAD', 'LEFT'];

/** The cells of a batch's line in the list. */
export const batchCells = (status: BatchStatus, rate: CurrentRate | undefined) =>
  [
    status.batch,
    status.status,
    status.rows === null ? '-' : number(status.rows),
    number(status.scored),
    number(status.failed),
    number(status.bad),
    status.rowsLeft === 0 ? '-' : left(status, rate),
  ].map(shown);

function left(status: BatchStatus, rate: CurrentRate | undefined): string {
  const { rowsLeft } = status;
  if (rowsLeft === null) return 'unknown';
  const seconds = secondsLeft(status, rate);
  const time = seconds === null ? (rate?.isPaused ? ', paused' : '') : `, about ${duration(seconds)}`;
  return `${number(rowsLeft)} ${rowsLeft === 1 ? 'row' : 'rows'}${time}`;
}

/** Describes a batch in words. */
export function batchLines(
  status: BatchStatus,
  failures: readonly FailedRow[],
  rate: CurrentRate | undefined,
): readonly string[] {
  const { batch, chunks, chunksEnded, rows, scored, failed, cancelled, bad, erased } = status;
  const more = [
    ...(cancelled === 0 ? [] : [`${number(cancelled)} of them cancelled`]),
    `${number(bad)} bad`,
    ...(erased === 0 ? [] : [`${number(erased)} erased`]),
  ].join(', ');
  const ofRows = rows === null ? '' : `${number(rows)} rows: `;
  const speed = rate === undefined || rate.isPaused ? '' : ` at ${Number(rate.rate.toFixed(2))} a second`;
  return [
    `batch ${batch}: ${status.status}; ${number(chunksEnded)}${chunks === null ? '' : ` of ${number(chunks)}`} chunks have ended`,
    `${ofRows}${number(scored)} scored, ${number(failed)} failed, ${more}`,
    ...(status.rowsLeft === 0 ? [] : [`left: ${left(status, rate)}${speed}`]),
    ...failures.map(
      ({ line, id, error }) => `  line ${line}${id === undefined ? '' : ` (id ${id})`}: ${error}`,
    ),
    ...andMore(failed - failures.length, ' failed rows').map((line) => `  ${line}`),
    ...adviceOf(status),
  ];
}

/** What to do about a batch. */
function adviceOf({ batch, status, failed }: BatchStatus): readonly string[] {
  if (status === 'unfinished')
    return [
      'the file is still being split, or `score` was stopped. The command that `score` printed resumes it; texts that are scored are not paid for again',
    ];
  if (failed === 0) return [];
  return [
    `to score the failed rows again: ${commandLine(['redrive'], { batch })}; without a queue, score the file under another --batch: you pay only for these rows`,
  ];
}
