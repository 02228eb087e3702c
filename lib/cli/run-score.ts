import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { BatchRequest } from '../jobs/texts/batch/batch-request.ts';
import { refusals } from '../jobs/texts/batch/check-batch.ts';
import { type BadRow, checkedRows, isBad } from '../jobs/texts/batch/chunks.ts';
import { previewBatch } from '../jobs/texts/batch/preview.ts';
import { scoreFile } from '../jobs/texts/batch/score-file.ts';
import { BatchConflictError } from '../jobs/texts/batch/split-batch.ts';
import { createScoreCache } from '../jobs/texts/cache/score-cache.ts';
import { RowsError, readRows } from '../jobs/texts/rows/read-rows.ts';
import { bulkRequestChecks } from '../jobs/types/score/message.ts';
import { openSession, type Session } from '../session.ts';
import { errorCode } from '../store/error-code.ts';
import { sleep } from '../time/sleep.ts';
import { checkedMessage } from './checked-message.ts';
import { countSentiments } from './count-sentiments.ts';
import { openScoreTable } from './open-score-table.ts';
import type { TopicGiven } from './options.ts';
import { createProgress } from './progress.ts';
import { batchNameOf, checkedBatch } from './score-names.ts';
import { quoted } from './shell-words.ts';
import { NAMED_BAD_ROWS, showPreview, showRefusal, showSummary } from './show-score.ts';
import { shown, type Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

export type ScoreFlags = {
  readonly text: string;
  readonly id?: string;
  readonly topic?: readonly TopicGiven[];
  readonly instructions?: string;
  readonly model?: string;
  readonly columns?: readonly string[];
  readonly maxCalls?: number;
  readonly dryRun?: true;
  readonly batch?: string;
  readonly encoding?: string;
  readonly separator?: string;
  readonly json?: true;
};

/** Scores a file, or reports what that would take; returns the exit code. */
export async function runScore(file: string, flags: ScoreFlags, terminal: Terminal): Promise<number> {
  const session = openSession(terminal);
  await checkFile(file);
  const batch = checkedBatch(flags.batch ?? batchNameOf(file, Date.now()));
  const parts = await openParts(session, terminal);
  const request: BatchRequest = {
    batch,
    request: requestOf(flags),
    rows: () => rowsOf(file, flags),
    host: parts.host,
  };
  try {
    return await (flags.dryRun
      ? preview(request, parts, flags, terminal)
      : score(request, parts, { ...flags, file }, terminal));
  } catch (error) {
    throw asUsageOf(file, error);
  }
}

/** The rows are read more than once, so a pipe cannot be used. */
async function checkFile(file: string): Promise<void> {
  const got = await stat(file).then(
    (stats) => (stats.isFile() ? undefined : 'something else'),
    (error: unknown) => errorCode(error) ?? 'unknown',
  );
  if (got !== undefined)
    throw new UsageError(`${file}: expected a file that can be read more than once, got ${got}`);
}

/** The request for every text. Throws `UsageError` with every fault, before anything is sent. */
function requestOf({ topic: topics, instructions, model }: ScoreFlags): BatchRequest['request'] {
  const request = {
    ...(topics === undefined ? {} : { topics: [...topics] }),
    ...(instructions === undefined ? {} : { instructions }),
    ...(model === undefined ? {} : { model }),
  };
  return checkedMessage(bulkRequestChecks, request, TYPED_AS);
}

/** The options that set the fields of a bulk request. */
const TYPED_AS = { topics: '--topic', instructions: '--instructions', model: '--model' };

const rowsOf = (file: string, { text, id, columns, encoding, separator }: ScoreFlags) =>
  readRows(createReadStream(file), { name: file, text, id, columns, encoding, separator });

type Parts = Awaited<ReturnType<typeof openParts>>;

async function openParts(session: Session, { environment, signal }: Terminal) {
  const {
    PLATFORM_BASE_URL,
    PLATFORM_RATE: rate,
    PLATFORM_TIMEOUT_MS: attemptMs,
    SYNC_TABLE: tableName,
  } = session.settings;
  const store = await session.store();
  const { table, flush, now } = await openScoreTable(tableName, store, environment);
  const { host } = new URL(PLATFORM_BASE_URL);
  const newToken = randomUUID;
  const cache = createScoreCache({ table, host, attemptMs, owner: randomUUID(), now, newToken });
  return { session, store, table, flush, host, cache, newToken, now, rate, signal };
}

async function preview(
  request: BatchRequest,
  { cache, rate, signal }: Parts,
  flags: ScoreFlags,
  terminal: Terminal,
): Promise<number> {
  const badRows = new Map<number, BadRow>();
  async function* rows() {
    for await (const row of checkedRows(request.rows())) {
      if (isBad(row) && badRows.size < NAMED_BAD_ROWS) badRows.set(row.line, row);
      yield row;
    }
  }
  const found = await previewBatch({ rows, request: request.request, cache, rate, signal });
  const reasons = refusals(found, { rate, maxCalls: flags.maxCalls });
  return showPreview({ ...found, bad: [...badRows.values()], reasons, rate }, flags, terminal);
}

type ScoredFlags = ScoreFlags & { readonly file: string };

async function score(
  request: BatchRequest,
  { session, flush, ...parts }: Parts,
  flags: ScoredFlags,
  terminal: Terminal,
): Promise<number> {
  const resumeCommand = shown(resumeCommandOf(flags, request.batch));
  terminal.err(`batch ${request.batch}; to resume it after a stop: ${resumeCommand}`);
  const progress = createProgress('score', {
    screen: terminal.screen,
    err: terminal.err,
    callCounts: session.callCounts,
    nouns: ['rows', 'calls'],
    now: () => performance.now(),
  });
  const { analyze, paid } = countSentiments(session.platform.sentiment.analyze);
  try {
    const scored = await scoreFile(request, {
      ...parts,
      maxCalls: flags.maxCalls,
      analyze,
      atOnce: session.settings.PLATFORM_CONCURRENCY,
      random: Math.random,
      sleep,
      progress: ({ rowsScored, rows }) => progress.update({ records: rowsScored, total: rows }),
    });
    progress.end();
    if (scored.kind === 'scored') return showSummary(scored.summary, parts.store, flags, terminal);
    return showRefusal(scored, flags, terminal);
  } catch (error) {
    progress.end();
    terminal.err(paid());
    if (!(error instanceof RowsError) && !(error instanceof BatchConflictError))
      terminal.err(`stopped; to resume: ${resumeCommand}`);
    throw error;
  } finally {
    await flush();
  }
}

/** The command line that resumes the batch: what has been scored is not paid for again. */
function resumeCommandOf(flags: ScoredFlags, batch: string): string {
  const { file, text, id, topic = [], instructions, model, columns, maxCalls, encoding, separator } = flags;
  const given: readonly (readonly [string, string | number | undefined])[] = [
    ['--text', text],
    ['--id', id],
    ...topic.map(
      ({ topic: name, description }) =>
        ['--topic', description === undefined ? name : `${name}=${description}`] as const,
    ),
    ['--instructions', instructions],
    ['--model', model],
    ['--columns', columns?.join(',')],
    ['--max-calls', maxCalls],
    ['--encoding', encoding],
    ['--separator', separator],
    ['--batch', batch],
  ];
  const words = given.flatMap(([name, value]) => (value === undefined ? [] : [name, quoted(String(value))]));
  return ['platform-sync score', quoted(file), ...words].join(' ');
}

/** Turns a file that cannot be read as requested, or a batch of other rows, into wrong usage of what was typed. */
function asUsageOf(file: string, error: unknown): unknown {
  if (error instanceof BatchConflictError)
    return new UsageError(`--batch: ${error.message}`, { cause: error });
  if (error instanceof RowsError && error.failure.kind !== 'gzip')
    return new UsageError(`${file}: ${error.message}`, { cause: error });
  return error;
}
