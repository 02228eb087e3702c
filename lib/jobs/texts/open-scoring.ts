import { randomUUID } from 'node:crypto';
import { sleep } from '../../base/index.ts';
import { operations } from '../../platform/http/index.ts';
import { tokensOf } from '../../platform/index.ts';
import type { Session } from '../../session.ts';
import { needed } from '../../settings.ts';
import { openTimedTable } from '../job-storage.ts';
import { createLedgerCheck } from '../ledger-check.ts';
import { BatchConflictError, type ScoreRequest } from './batch/batch.ts';
import { type BatchRequest, previewBatch, refusals } from './batch/check-batch.ts';
import type { Summary } from './batch/finish-batch.ts';
import { checkContinues, scoreFile } from './batch/score-file.ts';
import { createScoreCache } from './cache/score-cache.ts';
import { compareLabels, type Labels, writeScoredFile } from './output/scored-file.ts';
import { createInput, openRows, type RecognizedInput } from './rows/read-rows.ts';
import type { Analyze } from './scoring/scoring-session.ts';

type ScoreHooks = {
  /** Called once: after the first read of all rows, and before anything is sent. */
  readonly onInput: (found: RecognizedInput) => void;
  readonly onProgress: Parameters<typeof scoreFile>[1]['progress'];
};

/** Opens the scoring of an input's texts in this process, as one batch. Throws `SettingsError` if no table is set. */
export async function openScoring(
  session: Session,
  parts: {
    readonly batch: string;
    readonly request: ScoreRequest;
    /** Opens the input. It must return the same bytes each time. */
    readonly open: () => AsyncIterable<Uint8Array>;
    readonly rows: Parameters<typeof createInput>[1];
    readonly maxCalls: number | undefined;
    readonly signal: AbortSignal;
  },
) {
  const { batch, request, open, rows, maxCalls, signal } = parts;
  const { settings, environment } = session;
  const { PLATFORM_BASE_URL, PLATFORM_RATE: rate, PLATFORM_TIMEOUT_MS: attemptMs } = settings;
  const store = await session.store();
  const tableName = needed(settings, 'SYNC_TABLE');
  const { table, now } = await openTimedTable(tableName, environment);
  const { host } = new URL(PLATFORM_BASE_URL);
  const newToken = randomUUID;
  const cache = createScoreCache({ table, host, attemptMs, owner: randomUUID(), now, newToken });
  const input = createInput(open, rows);
  const bulkRequest: BatchRequest = { batch, request, rows: input.rows, input: input.found, host };
  const paid = { calls: 0, scored: 0, tokens: 0 };
  return {
    store,
    /** What the calls so far may have cost. */
    paid: paid as Readonly<typeof paid>,
    /** Computes how many calls the batch needs, and the reasons to refuse it. Sends nothing. */
    async preview() {
      const found = await previewBatch(bulkRequest, { cache, rate, signal });
      const conflicts: string[] = [];
      const inBatch = await checkContinues(bulkRequest, { store, table }).catch((error: unknown) => {
        if (!(error instanceof BatchConflictError)) throw error;
        conflicts.push(error.message);
        return undefined;
      });
      const reasons = [...conflicts, ...refusals(found, { rate, maxCalls })];
      return { ...found, inBatch, reasons, rate, input: input.found() };
    },
    /** Scores the batch, or resumes it. Throws `BatchConflictError` if the name belongs to a batch of other rows. */
    async score({ onInput, onProgress: progress }: ScoreHooks) {
      await createLedgerCheck(tableName, environment, { batch })();
      const { analyze: call } = operations(session.call).sentiment;
      const storage = { store, table, cache, newToken, now };
      const options = { ...storage, rate, signal, maxCalls, analyze: countingCalls(call, paid), progress };
      return scoreFile(
        { ...bulkRequest, rows: reportingOnce(bulkRequest, onInput) },
        { ...options, ...processOptions(session) },
      );
    },
    /** Throws `TextError`, before anything is sent, unless the input can have labels in this column. */
    async checkLabels({ column }: Labels) {
      await using _ = await openRows(open(), { ...rows, columns: [column] });
    },
    /** Compares the scores with the labels of the input. */
    compareLabels: (summary: Summary, labels: Labels) =>
      compareLabels(summary, { ...labels, open, rows, store, signal }),
    /** Writes the rows of the input with their scores. */
    writeOutput: (
      summary: Summary,
      output: Omit<Parameters<typeof writeScoredFile>[1], 'open' | 'rows' | 'store' | 'signal'>,
    ) => writeScoredFile(summary, { ...output, open, rows, store, signal }),
  };
}

/** The options of scoring that depend on this process. */
const processOptions = ({ settings, breaker }: Session) => ({
  random: Math.random,
  sleep,
  concurrency: settings.PLATFORM_CONCURRENCY,
  isPlatformUnavailable: async () => (await breaker.blockedMs()) !== undefined,
});

/** Wraps the call so that `paid` counts the calls, and the tokens of calls that scored a text. */
function countingCalls(analyze: Analyze, paid: Record<'calls' | 'scored' | 'tokens', number>): Analyze {
  return async (request, { onSend, ...options } = {}) => {
    const countSend = () => {
      onSend?.();
      paid.calls += 1;
    };
    const sentiment = await analyze(request, { ...options, onSend: countSend });
    paid.scored += 1;
    paid.tokens += tokensOf(sentiment).total;
    return sentiment;
  };
}

/** Wraps the rows so that their input is reported once, after the first read of all rows. */
function reportingOnce({ rows, input }: BatchRequest, onInput: ScoreHooks['onInput']): BatchRequest['rows'] {
  let isReported = false;
  return async function* reportedRows() {
    yield* rows();
    const found = input?.();
    if (isReported || found === undefined) return;
    isReported = true;
    onInput(found);
  };
}
