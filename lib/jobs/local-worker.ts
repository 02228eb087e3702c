import { existsSync } from 'node:fs';
import PQueue from 'p-queue';
import { isOfDisk, isPassing, ServiceError } from '../base/aws/index.ts';
import { sleep } from '../base/index.ts';
import { sqlitePath } from '../locations.ts';
import { lowerCase } from '../model/rules/index.ts';
import type { Session } from '../session.ts';
import { type Environment, readSyncSettings } from '../settings.ts';
import type { Store } from '../store/index.ts';
import { type CsvOptions, csvOutput, type OutputFormat, writeTextFile } from '../text/index.ts';
import type { FileRow, JobFile } from './file/job-file.ts';
import { type EndedJob, handleMessage, type Worker } from './handle-message.ts';
import { OTHER_CONTENT } from './job-advice.ts';
import { openJobStorage, openTimedTable } from './job-storage.ts';
import { type EndedJobRow, hasEnded, isSettled, type Outcome } from './ledger/job-row.ts';
import { createLedger, type Ledger } from './ledger/ledger.ts';
import { openWorker, renewedLease } from './open-worker.ts';
import { localSender } from './queue/open-queue.ts';
import { parseJobMessage, publishEnd } from './redrive.ts';
import { responseOf } from './result.ts';
import { readListed } from './results/read-listed.ts';
import { csvLines, ndjsonLines } from './texts/output/added-columns.ts';
import { definitionOf } from './types/job-types.ts';
import { work } from './work.ts';

/**
 * Opens a worker in this process, which renews its leases as long as it lives. Throws if no table is set, or the
 * table belongs to another store.
 */
export async function openLocalWorker(
  session: Session,
  options: {
    /** Aborting it stops the work: jobs are requeued unless a request was sent. */
    readonly signal: AbortSignal;
    readonly concurrency: number;
    /**
     * Called for each job that ends, and once more if its message is delivered again. `where`: in which process it
     * ended. Of a job that ended in another process, only the outcome is known.
     */
    readonly onEnded: (
      job: Pick<EndedJob, 'id' | 'status' | 'error'> & Partial<EndedJob>,
      where: 'here' | 'elsewhere',
    ) => void;
    /** Called for each message that is refused. */
    readonly onRefused: (messageId: string) => void;
  },
) {
  const { signal, concurrency, onEnded, onRefused } = options;
  const storage = await openJobStorage(session);
  // An unavailable table may come back, but with a missing table all jobs would stay on the queue.
  await storage.ledger.read('-').catch((error: unknown) => {
    if (!isPassing(error)) throw error;
  });
  const worker = await openWorker(session, storage, {
    onRefused,
    onEnded: (job) => onEnded(job, 'here'),
  });
  const lease = renewedLease(storage.ledger, { stop: signal });
  const parts = { worker, lease, concurrency, signal, sleep };
  return {
    /** Consumes a queue until it is stopped or, with `drain`, until the queue is empty. */
    work: (
      queue: Pick<
        Parameters<typeof work>[0],
        'queue' | 'drain' | 'isWatched' | 'polls' | 'visibilitySeconds'
      >,
    ) => work({ ...parts, ...queue }),
    /** Runs each job of a file to its end. Returns the counts of jobs that had already ended. */
    async runFile(jobs: JobFile): Promise<EndedCounts> {
      const before = noneEnded();
      await runRows(jobs.rows(), {
        ...parts,
        sender: localSender(),
        onEndedElsewhere(row, hadEndedBefore) {
          if (hadEndedBefore) addEnded(before, row);
          onEnded({ id: row.id, ...row.outcome }, 'elsewhere');
        },
      });
      return before;
    },
    /** Writes the rows of a file with the outcomes of their jobs. Returns the encoding. */
    writeOutput: (jobs: JobFile, output: Omit<Parameters<typeof writeRunOutput>[1], 'ledger' | 'store'>) =>
      writeRunOutput(jobs, { ...storage, ...output }),
  };
}

type RunRowsOptions = Pick<Parameters<typeof work>[0], 'worker' | 'lease' | 'signal' | 'sleep'> & {
  readonly concurrency: number;
  readonly sender: string;
  /** Called for each job that had already ended when its row was first read, or that another process ended since. */
  readonly onEndedElsewhere: (row: EndedJobRow, hadEndedBefore: boolean) => void;
};

/** Maximum rows that run or wait at the same time, since their messages are in memory. */
const MAX_OPEN = 500;

/** The time between two checks whether another process has ended the job of a waiting row, in milliseconds. */
const CHECK_EVERY_MS = 2_000;

/** How long a row waits if the table or the store is unavailable, in milliseconds. */
const AFTER_OUTAGE_MS = 10_000;

/**
 * Runs the jobs of a file's rows in this process, each to its end. Several processes can share the rows,
 * since the ledger shows which jobs have ended. Throws errors of the rows, and permanent errors of the ledger.
 */
export async function runRows(rows: AsyncIterable<FileRow>, options: RunRowsOptions): Promise<void> {
  const running = new PQueue({ concurrency: options.concurrency });
  const failed = new AbortController();
  const signal = AbortSignal.any([options.signal, failed.signal]);
  const open = new Set<Promise<void>>();
  try {
    for await (const row of rows) {
      const one = runRow(row, running, { ...options, signal })
        .catch((error: unknown) => failed.abort(error))
        .finally(() => open.delete(one));
      open.add(one);
      if (open.size >= MAX_OPEN) await Promise.race(open);
      if (signal.aborted) break;
    }
  } finally {
    await Promise.all(open);
  }
  failed.signal.throwIfAborted();
}

async function runRow(row: FileRow, running: PQueue, options: RunRowsOptions): Promise<void> {
  const { worker, signal, sleep } = options;
  let receives = 0;
  let dueAtMs = worker.now();
  while (!signal.aborted) {
    const isDue = dueAtMs <= worker.now();
    if (isDue) receives += 1;
    const delayMs = await running.add(() => tryRow(row, isDue ? receives : undefined, options));
    if (delayMs === 'ended') return;
    if (isDue) dueAtMs = worker.now() + delayMs;
    await sleep(Math.max(0, Math.min(CHECK_EVERY_MS, dueAtMs - worker.now())), signal).catch(() => undefined);
  }
}

/**
 * Runs the job of a row unless it has ended. Returns 'ended', or how long the row must wait before the next try.
 * `receives`: undefined if the job is not due, so that only its end is looked for.
 */
async function tryRow(
  { id, contentHash, body }: FileRow,
  receives: number | undefined,
  { worker, lease, sender, onEndedElsewhere, signal, sleep }: RunRowsOptions,
): Promise<number | 'ended'> {
  if (signal.aborted) return 0;
  try {
    const row = await worker.ledger.read(id);
    if (row !== undefined && hasEnded(row) && row.contentHash === contentHash) {
      await complete(row, body, worker);
      onEndedElsewhere(row, receives === 1);
      return 'ended';
    }
  } catch (error) {
    if (!isPassing(error)) throw error;
  }
  if (receives === undefined) return 0;
  try {
    const handled = await handleMessage(
      { messageId: id, receipt: id, body, sender, receives },
      worker,
      lease,
    );
    if (handled.kind === 'done') return 'ended';
    return handled.kind === 'later' ? handled.delayMs : 0;
  } catch (err) {
    // The next row would fail in the same way.
    if (isOfDisk(err)) throw err;
    worker.logger.error({ job: id, err }, 'job not run');
    if (!isPassing(err)) return 'ended';
    await sleep(AFTER_OUTAGE_MS, signal).catch(() => undefined);
    return 0;
  }
}

/**
 * Stores what a killed process may not have stored of an ended job: what `afterEnd` of its type writes (for example, to
 * its batch or to the history of formulas), or the result with the outcome that a user reported.
 */
async function complete(row: EndedJobRow, body: string, { store, batches }: Worker): Promise<void> {
  const message = parseJobMessage(row.id, body);
  if (message !== undefined && (isSettled(row) || definitionOf(message.job).afterEnd !== undefined))
    await publishEnd({ ...row, type: message.job.type }, message, { store, batches });
}

/**
 * How many jobs of a file had already ended, by outcome, and when the first and the last of them ended, in
 * epoch milliseconds.
 */
export type EndedCounts = Record<
  'ended' | Outcome['status'] | 'firstMs' | 'lastMs' | 'otherContent',
  number
> & {
  /** The maximum number of calls that are no longer needed, by job type. */
  readonly calls: Record<string, number>;
};

const noneEnded = (): EndedCounts => ({
  ended: 0,
  done: 0,
  failed: 0,
  unknown: 0,
  otherContent: 0,
  firstMs: Number.POSITIVE_INFINITY,
  lastMs: 0,
  calls: {},
});

function addEnded(before: EndedCounts, { outcome, finishedAt }: EndedJobRow): void {
  before.ended += 1;
  before[outcome.status] += 1;
  before.firstMs = Math.min(before.firstMs, finishedAt);
  before.lastMs = Math.max(before.lastMs, finishedAt);
}

/**
 * Counts the jobs of a file that have already ended, according to the configured ledger. Undefined if there is no
 * ledger, or it cannot be read, for example by a user who may only submit. Creates no ledger.
 */
export async function countEndedJobs(
  jobs: JobFile,
  environment: Environment,
): Promise<EndedCounts | undefined> {
  const { SYNC_TABLE: tableName } = readSyncSettings(environment);
  if (tableName === undefined) return undefined;
  const path = sqlitePath(tableName);
  if (path !== undefined && !existsSync(path)) return noneEnded();
  try {
    return await countEnded(jobs, createLedger(await openTimedTable(tableName, environment)));
  } catch (error) {
    if (error instanceof ServiceError) return undefined;
    throw error;
  }
}

const CONCURRENT_READS = 16;

/** Reads the ledger's row of each job of a file. */
async function countEnded(jobs: JobFile, ledger: Pick<Ledger, 'read'>): Promise<EndedCounts> {
  const before = noneEnded();
  const read = async (job: FileRow) => ({ ...job, row: await ledger.read(job.id) });
  for await (const { row, contentHash, type, calls } of readListed(jobs.rows(), {
    read,
    concurrency: CONCURRENT_READS,
  })) {
    if (row === undefined) continue;
    const isOther = row.contentHash !== undefined && row.contentHash !== contentHash;
    if (isOther) before.otherContent += 1;
    else if (hasEnded(row)) addEnded(before, row);
    if (isOther || hasEnded(row)) before.calls[type] = (before.calls[type] ?? 0) + calls;
  }
  return before;
}

type RunOutputOptions = CsvOptions & {
  readonly file: string;
  /** The file with the jobs or rows: the output file gets its permissions. */
  readonly sourceFile?: string | undefined;
  readonly format: OutputFormat;
  readonly ledger: Pick<Ledger, 'read'>;
  readonly store: Store;
};

/**
 * Writes the row of each job of a file with its id, status, response (as JSON) and error. The file appears
 * complete or not at all. Returns the encoding.
 */
async function writeRunOutput(jobs: JobFile, options: RunOutputOptions): Promise<string> {
  const { file, format, sourceFile } = options;
  const { encoding, isMarked } = format.format === 'csv' ? csvOutput(format, jobs, options) : {};
  const { isGzipped } = format;
  return writeTextFile(file, () => outputLines(jobs, options), { isGzipped, encoding, isMarked, sourceFile });
}

async function* outputLines(jobs: JobFile, options: RunOutputOptions): AsyncGenerator<string> {
  const { rows, csv } = jobs;
  const columns = csv?.names;
  const isCsv = options.format.format === 'csv';
  // A row of NDJSON already has the id of its job.
  const withId = columns !== undefined;
  const read = async (row: FileRow) => {
    const { status, response, error } = await addedCells(row, options);
    const json = (text: string) => (isCsv || text === '' ? text : JSON.stringify(text));
    return {
      record: withId ? (row.fields ?? []) : row.body,
      added: [...(withId ? [json(row.id)] : []), json(status), response, json(error)],
    };
  };
  const found = readListed(rows(), { read, concurrency: CONCURRENT_READS });
  const names = columns ?? ['id', 'type'];
  const added = [...(withId ? ['job_id'] : []), 'status', 'response', 'error'];
  if (isCsv) yield* csvLines(found, { ...csvOutput(options.format, jobs, options), names, added });
  else yield* ndjsonLines(found, { names, added });
}

async function addedCells({ id, contentHash }: FileRow, { ledger, store }: RunOutputOptions) {
  const row = await ledger.read(id);
  if (row?.contentHash !== undefined && row.contentHash !== contentHash)
    return { status: 'failed', response: '', error: OTHER_CONTENT };
  if (row === undefined || !hasEnded(row))
    return { status: lowerCase(row?.state) ?? '', response: '', error: '' };
  const { status, error, note } = row.outcome;
  const response = (await responseOf(store, row.outcome)) ?? '';
  return { status, response: response.replaceAll(/[\r\n]+/g, ' '), error: error?.message ?? note ?? '' };
}
