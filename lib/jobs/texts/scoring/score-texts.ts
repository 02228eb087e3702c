import type { Sentiment } from '../../../platform/records.ts';
import type { ScoreRequest } from '../batch/batch.ts';
import { createTextScorer, type TextOutcome } from './score-text.ts';
import type { ScoreTextsOptions } from './score-texts-options.ts';

/** What came of one text: its sentiment, or why there is none. */
export type TextAnswer = {
  readonly id: string;
  readonly result?: Sentiment;
  /** For people; the text is not in it. */
  readonly error?: string;
  /** Whether the result was there before: no call was made for it. */
  readonly cached: boolean;
  /** Calls that the platform may have executed for it, earlier lost ones too; 0 where the result was there. */
  readonly calls: number;
  /** How many of these calls came after one whose answer was lost: each may have been paid again. */
  readonly paidAgain: number;
};

export type Scored =
  | { readonly kind: 'scored'; readonly answers: readonly TextAnswer[] }
  /** Others still score some of the texts, or the time is over: run the same again after the delay. */
  | { readonly kind: 'later'; readonly waiting: number; readonly delayMs: number };

const MAX_WAIT_MS = 120_000;
const FIRST_POLL_MS = 250;
const LONGEST_POLL_MS = 5_000;
const SHORTEST_DELAY_MS = 1_000;

/**
 * Scores texts, equal ones once, each by the cache or by a call; all at once, since the client's pace bounds what is
 * in flight. Texts that another worker scores are waited for last. A text that the platform refuses for good has an
 * `error`, and the others go on; a failure that may pass is thrown (as `PlatformError`, `TableError` or the caller's
 * abort) once the calls under way have ended, and what was scored is in the cache then.
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
    if (open.length === 0) return { kind: 'scored', answers: answersOf(texts, outcomes) };
    if (options.now() + pollMs > endMs)
      return {
        kind: 'later',
        waiting: open.length,
        delayMs: Math.max(SHORTEST_DELAY_MS, nextMs - options.now()),
      };
    await options.sleep(pollMs, options.signal);
  }
}

/** Waits for all of them, and only then throws what the first of them threw: nothing goes on unseen. */
async function allOf<T>(promises: readonly Promise<T>[]): Promise<readonly T[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

function answersOf(
  texts: readonly { readonly id: string; readonly text: string }[],
  outcomes: ReadonlyMap<string, TextOutcome>,
): readonly TextAnswer[] {
  const told = new Set<string>();
  return texts.flatMap(({ id, text }) => {
    const outcome = outcomes.get(text);
    if (outcome === undefined) return [];
    const isFirst = !told.has(text);
    told.add(text);
    return [answerOf(id, outcome, isFirst)];
  });
}

/** The calls are counted at the first of equal texts; the others found the result. */
function answerOf(id: string, outcome: TextOutcome, isFirst: boolean): TextAnswer {
  const calls = isFirst && outcome.kind !== 'cached' ? outcome.calls : 0;
  const counted = { calls, paidAgain: Math.max(0, calls - 1) };
  if (outcome.kind === 'failed') return { id, error: outcome.error, cached: false, ...counted };
  return { id, result: outcome.result, cached: outcome.kind === 'cached' || !isFirst, ...counted };
}
