import type { Sentiment } from '../../../platform/records.ts';
import type { ScoreRequest } from '../batch/batch.ts';
import { createTextScorer, type TextOutcome } from './score-text.ts';
import type { ScoreTextsOptions } from './score-texts-options.ts';

/** The result of one text: its sentiment, or why there is none. */
export type TextResult = {
  readonly id: string;
  readonly result?: Sentiment;
  /** For people to read; it does not contain the text. */
  readonly error?: string;
  /** Whether the result was found in the cache: no call was made for it. */
  readonly cached: boolean;
  /** Calls that the platform may have executed for it, including earlier lost ones; 0 if the result was cached. */
  readonly calls: number;
  /** How many of these calls followed one whose response was lost: each may have been paid for again. */
  readonly paidAgain: number;
};

export type Scored =
  | { readonly kind: 'scored'; readonly results: readonly TextResult[] }
  /** Other workers are still scoring some of the texts, or time is up: run the same again after the delay. */
  | { readonly kind: 'later'; readonly waiting: number; readonly delayMs: number };

const MAX_WAIT_MS = 120_000;
const FIRST_POLL_MS = 250;
const LONGEST_POLL_MS = 5_000;
const SHORTEST_DELAY_MS = 1_000;

/**
 * Scores texts, equal ones once, each from the cache or by a call; all at once, since the client's pace bounds what is
 * in flight. It waits for the texts of other workers last. A text that the platform refuses for good gets an `error`,
 * and the others continue. A failure that may pass is thrown (`PlatformError`, `TableError` or the caller's abort) once
 * the calls in progress have ended; by then whatever was scored is in the cache.
 */
export async function scoreTexts(
  texts: readonly { readonly id: string; readonly text: string }[],
  request: ScoreRequest,
  options: ScoreTextsOptions,
): Promise<Scored> {
  const score = createTextScorer(request, options);
  const outcomes = new Map<string, TextOutcome>();
  let open = [...new Set(texts.map(({ text }) => text))];
  const endMs = Math.min(
    options.deadlineMs ?? Number.POSITIVE_INFINITY,
    options.now() + (options.maxWaitMs ?? MAX_WAIT_MS),
  );
  for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(2 * pollMs, LONGEST_POLL_MS)) {
    const found = await allOf(open.map(async (text) => [text, await score(text)] as const));
    let nextMs = Number.POSITIVE_INFINITY;
    for (const [text, outcome] of found) {
      if (outcome.kind === 'held') nextMs = Math.min(nextMs, outcome.untilMs);
      else outcomes.set(text, outcome);
    }
    open = open.filter((text) => !outcomes.has(text));
    if (open.length === 0) return { kind: 'scored', results: resultsOf(texts, outcomes) };
    if (options.now() + pollMs > endMs)
      return {
        kind: 'later',
        waiting: open.length,
        delayMs: Math.max(SHORTEST_DELAY_MS, nextMs - options.now()),
      };
    await options.sleep(pollMs, options.signal);
  }
}

/** Waits for all of them before it throws the first failure: none is left running. */
async function allOf<T>(promises: readonly Promise<T>[]): Promise<readonly T[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

function resultsOf(
  texts: readonly { readonly id: string; readonly text: string }[],
  outcomes: ReadonlyMap<string, TextOutcome>,
): readonly TextResult[] {
  const seen = new Set<string>();
  return texts.flatMap(({ id, text }) => {
    const outcome = outcomes.get(text);
    if (outcome === undefined) return [];
    const isFirst = !seen.has(text);
    seen.add(text);
    return [resultOf(id, outcome, isFirst)];
  });
}

/** Calls are counted for the first of equal texts only; the others found the result. */
function resultOf(id: string, outcome: TextOutcome, isFirst: boolean): TextResult {
  const calls = isFirst && outcome.kind !== 'cached' ? outcome.calls : 0;
  const counted = { calls, paidAgain: Math.max(0, calls - 1) };
  if (outcome.kind === 'failed') return { id, error: outcome.error, cached: false, ...counted };
  return { id, result: outcome.result, cached: outcome.kind === 'cached' || !isFirst, ...counted };
}
