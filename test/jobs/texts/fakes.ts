import type { Chunk } from '../../../lib/jobs/texts/batch/check-batch.ts';
import { createScoreCache } from '../../../lib/jobs/texts/cache/score-cache.ts';
import type { Analyze, ScoreTextsOptions } from '../../../lib/jobs/texts/scoring/scoring-session.ts';
import type { PlatformFailure } from '../../../lib/platform/failure.ts';
import type { SentimentRequest } from '../../../lib/platform/operations/analyze-sentiment.ts';
import { PlatformError } from '../../../lib/platform/platform-error.ts';
import type { Sentiment } from '../../../lib/platform/records.ts';
import type { Store } from '../../../lib/store/store.ts';
import type { Table } from '../../../lib/table/table.ts';
import { createMemoryTable } from '../../table/memory-table.ts';

/** A row of a source, valid or not. */
export type InputRow = Chunk['rows'][number];

export const HOST = 'acme.example.com';

/** The platform's response: the sentiment is the word in the text, and tokens follow its length. */
export function sentimentOf({ text, topics = [] }: SentimentRequest): Sentiment {
  const mood = text.includes('good') ? 'POSITIVE' : 'negative';
  const usage = {
    inputTokens: text.length,
    outputTokens: 1,
    totalTokens: text.length + 1,
    reasoningTokens: 0,
  };
  const common = { model: 'm1', modelProviderUsage: usage };
  return topics.length === 0
    ? { type: 'DEFAULT', sentiment: mood, ...common }
    : {
        type: 'TARGETED',
        topicSentiments: Object.fromEntries(topics.map(({ topic }) => [topic, mood])),
        ...common,
      };
}

export const lost: PlatformFailure = { kind: 'connection', phase: 'exchange', code: 'ECONNRESET' };
export const unreached: PlatformFailure = { kind: 'connection', phase: 'connect', code: 'ECONNREFUSED' };
export const busy: PlatformFailure = { kind: 'status', status: 429, retryAfterMs: 7_000 };
export const refusedText: PlatformFailure = { kind: 'status', status: 400 };
export const unavailable: PlatformFailure = { kind: 'status', status: 503 };
export const longWait: PlatformFailure = { kind: 'wait', waitMs: 40_000, maxWaitMs: 20_000 };

/**
 * A platform that fails each text by its script, one failure for each attempt, and then succeeds. A `wait` is thrown
 * before the call is sent. `paid`: the texts of all executed calls.
 */
export function scriptedAnalyze(script: Readonly<Record<string, readonly PlatformFailure[]>> = {}) {
  const attempts = new Map<string, number>();
  const paid: string[] = [];
  const analyze: Analyze = async (request, { beforeSend, onSend, signal } = {}) => {
    signal?.throwIfAborted();
    const { text } = request;
    const attempt = attempts.get(text) ?? 0;
    attempts.set(text, attempt + 1);
    const failure = script[text]?.[attempt];
    const context = { operation: 'analyzeSentiment', about: 'sentiment of a text', attempts: 1 };
    if (failure?.kind === 'wait') throw new PlatformError(failure, context);
    await beforeSend?.();
    onSend?.();
    const error = failure && new PlatformError(failure, context);
    if (error === undefined || (error.sent && failure !== refusedText)) paid.push(text);
    if (error !== undefined) throw error;
    return sentimentOf(request);
  };
  return { analyze, paid };
}

/** One worker on a table, with a clock that only `sleep` and `pass` move. */
export function worker(analyze: Analyze, table: Table = createMemoryTable(), owner = 'worker-1') {
  let nowMs = 1_000_000;
  let tokens = 0;
  const slept: number[] = [];
  const now = () => nowMs;
  const newToken = () => {
    tokens += 1;
    return `${owner}:${tokens}`;
  };
  const cache = createScoreCache({ table, attemptMs: 60_000, host: HOST, owner, now, newToken });
  const options: ScoreTextsOptions = {
    cache,
    analyze,
    now,
    random: () => 0.5,
    sleep: async (ms) => {
      slept.push(ms);
      nowMs += ms;
    },
  };
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return { options, table, cache, slept, newToken, pass };
}

/** Claims a text and records it as sent. The test decides what happens next. */
export async function sentBy({ cache }: Pick<ReturnType<typeof worker>, 'cache'>, text: string) {
  const [looked] = await cache.lookup([{ text }]);
  if (looked?.kind !== 'open') throw new Error(`expected an open text, got ${looked?.kind}`);
  const { kind } = await looked.claim.send();
  if (kind !== 'sent') throw new Error(`expected to send, got ${kind}`);
  return looked.claim;
}

class CrashError extends Error {}

/** Crashes at write number `at` to store or table, before it or, with `made`, after it. Later writes fail too. */
export function crashing(
  { store, table }: { readonly store: Store; readonly table: Table },
  at: number,
  made: boolean,
) {
  let writes = 0;
  const guard = async <T>(write: () => Promise<T>): Promise<T> => {
    writes += 1;
    if (writes > at || (writes === at && !made)) throw new CrashError();
    const result = await write();
    if (writes >= at) throw new CrashError();
    return result;
  };
  return {
    writes: () => writes,
    store: {
      ...store,
      put: (...put: Parameters<Store['put']>) => guard(() => store.put(...put)),
      delete: (...key: Parameters<Store['delete']>) => guard(() => store.delete(...key)),
    } satisfies Store,
    table: {
      ...table,
      put: (...put: Parameters<Table['put']>) => guard(() => table.put(...put)),
      delete: (...row: Parameters<Table['delete']>) => guard(() => table.delete(...row)),
    } satisfies Table,
  };
}

/** Opens these rows from the beginning at each call. */
export const rowsOf = (rows: readonly InputRow[]) =>
  async function* open(): AsyncGenerator<InputRow> {
    yield* rows;
  };

export const row = (line: number, text: string): InputRow => ({
  line,
  id: `user-${line}`,
  text,
  columns: {},
});
