import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { sleep } from '../../base/index.ts';
import { ledgerCheckOf } from '../../jobs/ledger-check.ts';
import { type BatchRequest, previewBatch, refusals } from '../../jobs/texts/batch/check-batch.ts';
import type { Summary } from '../../jobs/texts/batch/finish-batch.ts';
import { BatchConflictError, checkContinues, scoreFile } from '../../jobs/texts/batch/score-file.ts';
import { createScoreCache } from '../../jobs/texts/cache/score-cache.ts';
import { writeScoredFile } from '../../jobs/texts/output/scored-file.ts';
import { createInput, type InputOptions } from '../../jobs/texts/rows/read-rows.ts';
import type { Analyze } from '../../jobs/texts/scoring/run.ts';
import { bulkRequestChecks } from '../../jobs/types/score/message.ts';
import { operations } from '../../platform/client.ts';
import { tokensOf } from '../../platform/index.ts';
import { openSession, type Session } from '../../session.ts';
import { type OutputFormat, TextError } from '../../text/index.ts';
import type { FlagsOf, Run } from '../command.ts';
import { UsageError } from '../errors/usage-error.ts';
import { openTable } from '../jobs/open-jobs.ts';
import { commandLine } from '../options/command-lines.ts';
import { checkedOutput, checkFile, otherEncoding, sureEncoding } from '../options/files.ts';
import { checkedMessage } from '../options/request-options.ts';
import { createProgress } from '../terminal/progress.ts';
import { type Found, number, shown, type Terminal } from '../terminal/terminal.ts';
import { describeInput, foundPreview, foundRefusal, foundSummary } from '../texts/show-score.ts';

type ScoreFlags = FlagsOf<'score'>;

/** Scores every text of a file, or reports what that would take. Each text is paid for once. */
export default (async ([file], typed, terminal) => {
  const session = openSession(terminal);
  await checkFile(file);
  const outputFormat = await checkedOutput(file, typed.output);
  const batch = typed.batch ?? batchNameOf(file, Date.now());
  const parts = await openParts(session, terminal);
  const encoding = await sureEncoding(file, typed.encoding, terminal);
  const flags = { ...typed, encoding };
  const rows = rowsOptions(file, flags);
  const input = createInput(() => createReadStream(file), rows);
  const request = {
    batch,
    request: requestOf(flags),
    rows: input.rows,
    input: input.found,
    host: parts.host,
  };
  try {
    return await (flags.dryRun
      ? preview(request, parts, flags)
      : score(request, parts, { ...flags, file, outputFormat }, terminal));
  } catch (error) {
    throw asUsageOf(error);
  }
}) satisfies Run<'score'>;

/** The most characters of a file's name in a batch's name; the time takes another 17. */
const MAX_OF_FILE = 80;

/** A batch's name, made of its file and the time at which it starts: `reviews-20261121T091500Z`. */
function batchNameOf(file: string, nowMs: number): string {
  const stem = basename(file).replace(/(\.(csv|tsv|ndjson|jsonl))?(\.gz)?$/i, '');
  const time = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const name = stem
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, MAX_OF_FILE);
  return `${name || 'texts'}-${time}`;
}

/** How the rows of a file are read. */
const rowsOptions = (
  file: string,
  { text, id, columns, encoding, separator, wholeRows, skipEmpty }: ScoreFlags,
): InputOptions => ({ name: file, text, id, columns, encoding, separator, wholeRows, skipEmpty });

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

type Parts = Awaited<ReturnType<typeof openParts>>;

async function openParts(session: Session, terminal: Terminal) {
  const { PLATFORM_BASE_URL, PLATFORM_RATE: rate, PLATFORM_TIMEOUT_MS: attemptMs } = session.settings;
  const store = await session.store();
  const { table, now } = await openTable(terminal);
  const { host } = new URL(PLATFORM_BASE_URL);
  const newToken = randomUUID;
  const cache = createScoreCache({ table, host, attemptMs, owner: randomUUID(), now, newToken });
  return { session, store, table, host, cache, newToken, now, rate, signal: terminal.signal };
}

async function preview(
  request: BatchRequest,
  { cache, rate, signal, store, table }: Parts,
  flags: ScoreFlags,
): Promise<Found> {
  const found = await previewBatch(request, { cache, rate, signal });
  const conflicts: string[] = [];
  const inBatch = await checkContinues(request, { store, table }).catch((error: unknown) => {
    if (!(error instanceof BatchConflictError)) throw error;
    conflicts.push(error.message);
    return undefined;
  });
  const reasons = [...conflicts, ...refusals(found, { rate, maxCalls: flags.maxCalls })];
  return foundPreview({ ...found, inBatch, reasons, rate, input: request.input?.() });
}

type ScoredFlags = ScoreFlags & { readonly file: string; readonly outputFormat: OutputFormat | undefined };

async function score(
  given: BatchRequest,
  { session, ...parts }: Parts,
  flags: ScoredFlags,
  terminal: Terminal,
): Promise<Found> {
  const { SYNC_TABLE: table } = session.settings;
  if (table !== undefined) await ledgerCheckOf(table, terminal.environment, { batch: given.batch })();
  const resumeCommand = shown(resumeCommandOf(flags, given.batch));
  const nouns = ['rows', 'calls'] as const;
  const progress = createProgress('score', { ...terminal, callCounts: session.callCounts, nouns });
  const { analyze, paid } = counted(operations(session.call).sentiment.analyze);
  try {
    const scored = await scoreFile(
      { ...given, rows: describedOnce(given, resumeCommand, terminal) },
      {
        ...{ ...parts, maxCalls: flags.maxCalls, analyze, random: Math.random, sleep },
        atOnce: session.settings.PLATFORM_CONCURRENCY,
        isPlatformAway: async () => (await session.breaker.blockedMs()) !== undefined,
        progress: ({ rowsScored, rows }) => progress.update({ records: rowsScored, total: rows }),
      },
    );
    progress.end();
    if (scored.kind === 'refused') return foundRefusal(scored, terminal);
    const output = await writeOutput(scored.summary, parts, flags, terminal);
    return foundSummary(scored.summary, parts.store, output);
  } catch (error) {
    progress.end();
    if (error instanceof TextError || error instanceof BatchConflictError) throw error;
    terminal.err(paid());
    terminal.err(`stopped; to resume: ${resumeCommand}`);
    throw error;
  }
}

/** The command line that resumes the batch: what has been scored is not paid for again. */
function resumeCommandOf({ file, ...flags }: ScoredFlags, batch: string): string {
  const { skipEmpty, text, id, instructions, model, maxCalls, separator, wholeRows } = flags;
  const { output, csvFor, csvSafe } = flags;
  // What was found needs no word.
  const encoding = flags.encoding === 'utf-8' ? undefined : flags.encoding;
  const topic = flags.topic?.map(({ topic: name, description }) =>
    description === undefined ? name : `${name}=${description}`,
  );
  const columns = flags.columns?.join(',');
  return commandLine(['score', file], {
    ...{ skipEmpty, text, id, topic, instructions, model, columns },
    ...{ maxCalls, encoding, separator, wholeRows, output, csvFor, csvSafe, batch },
  });
}

/** Counts calls, and what they may have cost: `paid()` says it in words, at any time. */
function counted(analyze: Analyze) {
  const counts = { calls: 0, scored: 0, tokens: 0 };
  const counting: Analyze = async (request, { onLeave, ...options } = {}) => {
    const leave = () => {
      onLeave?.();
      counts.calls += 1;
    };
    const sentiment = await analyze(request, { ...options, onLeave: leave });
    counts.scored += 1;
    counts.tokens += tokensOf(sentiment).total;
    return sentiment;
  };
  const paid = () =>
    `calls of this run: ${number(counts.calls)}; ${number(counts.scored)} of them scored a text, which used ${number(counts.tokens)} tokens`;
  return { analyze: counting, paid };
}

/** Writes `--output` if it is given. */
async function writeOutput(
  summary: Summary,
  { store }: Pick<Parts, 'store'>,
  flags: ScoredFlags,
  { err, signal }: Terminal,
) {
  const { output: file, outputFormat: format, file: source, topic = [], csvFor, csvSafe } = flags;
  if (file === undefined || format === undefined) return undefined;
  err(shown(`all rows are scored; writing ${file}`));
  const { rows, encoding } = await writeScoredFile(summary, {
    ...{ csvFor, csvSafe, file, madeOf: source, format, store, signal, rows: rowsOptions(source, flags) },
    open: () => createReadStream(source),
    topics: topic.map(({ topic: name }) => name),
  });
  return { file, rows, about: format.format === 'csv' ? otherEncoding(encoding, flags.encoding) : '' };
}

/** The rows, which are described when they were read for the first time: before anything is sent. */
function describedOnce(
  { batch, rows, input }: BatchRequest,
  resumeCommand: string,
  { err }: Terminal,
): BatchRequest['rows'] {
  let isDescribed = false;
  return async function* describedRows() {
    yield* rows();
    const found = input?.();
    if (isDescribed || found === undefined) return;
    isDescribed = true;
    err(`batch ${batch}; to resume it after a stop: ${resumeCommand}`);
    for (const line of describeInput(found)) err(shown(line));
  };
}

/** Turns a batch of other rows into wrong usage of what was typed. */
function asUsageOf(error: unknown): unknown {
  if (error instanceof BatchConflictError)
    return new UsageError(`--batch: ${error.message}`, { cause: error });
  return error;
}
