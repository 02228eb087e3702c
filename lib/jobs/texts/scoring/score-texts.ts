import { errorText } from '../../../base/index.ts';
import type { Sentiment } from '../../../platform/index.ts';
import type { ScoreRequest } from '../batch/batch.ts';
import { type Run, type ScoreTextsOptions, startRun } from './run.ts';
import { scoreText, type TextOutcome } from './score-text.ts';

export type TextResult = {
  readonly id: string;
  readonly result?: Sentiment;
  /** For people to read; it does not contain the text. */
  readonly error?: string;
  /** It was found in the cache: no call was made for it. */
  readonly cached: boolean;
  /** Calls that the platform may have executed for it, earlier lost ones too; 0 if it was cached. */
  readonly calls: number;
  /** How many of these followed one whose response was lost. */
  readonly paidAgain: number;
};

export type SettledTexts = {
  readonly kind: 'scored';
  readonly results: readonly TextResult[];
  /** To be called once the results are recorded: the cache then counts the calls of texts that failed no more. */
  readonly settle: () => Promise<void>;
};

export type Scored =
  | SettledTexts
  /** Other workers are still scoring some of the texts, or time is up: run the same again after the delay. */
  | { readonly kind: 'later'; readonly waiting: number; readonly delayMs: number }
  | StoppedTexts;

/** The texts cannot all be scored now; running the same again pays for the rest. */
export type StoppedTexts = {
  readonly kind: 'stopped';
  /** A `PlatformError`, a `TableError`, or the caller's abort. */
  readonly error: unknown;
  readonly alike: boolean;
  /** Texts that a call of this run scored. */
  readonly progress: number;
  readonly results: readonly TextResult[];
};

type TextOfJob = { readonly id: string; readonly text: string };

const AT_ONCE = 8;
const LOOKED_UP = 20;
/** How long it waits for texts that other workers are scoring, once the others are done. */
const MAX_WAIT_MS = 120_000;
const FIRST_POLL_MS = 250;
const LONGEST_POLL_MS = 5_000;
const SHORTEST_DELAY_MS = 1_000;

/**
 * Scores texts, equal ones once, each from the cache or by a call, a few at once; those of other workers it waits for last.
 * A text that the platform refuses, or fails to score, gets an `error`. Throws nothing: what stopped it is in the result,
 * after the calls in progress have ended.
 */
export async function scoreTexts(
  texts: readonly TextOfJob[],
  request: ScoreRequest,
  options: ScoreTextsOptions,
): Promise<Scored> {
  const run = startRun(options);
  const outcomes = new Map<string, TextOutcome>();
  let open = [...new Set(texts.map(({ text }) => text))];
  let endMs: number | undefined;
  const laterBy = (delayMs: number): Scored => ({
    kind: 'later',
    waiting: open.length,
    delayMs: Math.max(SHORTEST_DELAY_MS, delayMs),
  });
  for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(2 * pollMs, LONGEST_POLL_MS)) {
    const heldUntilMs = await scoreEach(open, request, outcomes, run);
    open = open.filter((text) => !outcomes.has(text));
    const undecided = outcomes.values().find((outcome) => outcome.kind === 'unsettled');
    if (open.length === 0 && undecided !== undefined)
      run.stop({ kind: 'error', error: undecided.error, alike: false });
    const stop = run.stopped();
    if (stop?.kind === 'error') {
      const { error, alike } = stop;
      const progress = run.counts.successes;
      return { kind: 'stopped', error, alike, progress, results: resultsOf(texts, outcomes, error) };
    }
    if (stop !== undefined) return laterBy(stop.delayMs);
    if (open.length === 0) return settled(texts, outcomes);
    endMs ??= Math.min(run.deadlineMs, run.now() + MAX_WAIT_MS);
    if (run.now() + pollMs > endMs) return laterBy(heldUntilMs - run.now());
    await run
      .sleep(pollMs, run.signal)
      .catch((error: unknown) => run.stop({ kind: 'error', error, alike: false }));
  }
}

/** Scores these texts until the run stops or time is up. Returns when the first text that another worker holds is free. */
async function scoreEach(
  texts: readonly string[],
  request: ScoreRequest,
  outcomes: Map<string, TextOutcome>,
  run: Run,
): Promise<number> {
  const rest = lookedUp(texts, request, run);
  let heldUntilMs = Number.POSITIVE_INFINITY;
  const lane = async () => {
    for await (const [text, looked] of rest) {
      const outcome =
        looked.kind === 'open' ? await scoreText({ ...request, text }, looked.claim, run) : looked;
      // The request is right, whatever else is wrong now.
      if (looked.kind === 'scored') run.failures.hasScored();
      if (outcome.kind === 'held') heldUntilMs = Math.min(heldUntilMs, outcome.untilMs);
      else outcomes.set(text, outcome);
    }
  };
  await Promise.all(Array.from({ length: run.atOnce ?? AT_ONCE }, lane));
  return run.isOver() ? run.now() : heldUntilMs;
}

/**
 * Texts with what the cache has of them, which is read as they are taken: other workers may score them meanwhile. Where
 * one is a step ahead, it continues at random with those that are left, so that they do not meet at each text.
 */
async function* lookedUp(texts: readonly string[], request: ScoreRequest, run: Run) {
  const isOver = () => run.stopped() !== undefined || run.isOver();
  let [rest, { overtaken }] = [texts, run.counts];
  try {
    while (rest.length > 0 && !isOver()) {
      const group = rest.slice(0, LOOKED_UP);
      const requests = group.map((text) => ({ ...request, text }));
      const looked = await run.cache.look(requests, run.payer);
      rest = rest.slice(LOOKED_UP);
      for (const [at, each] of looked.entries()) {
        if (isOver()) return;
        if (run.counts.overtaken > overtaken) {
          const left = [...group.slice(at), ...rest];
          const from = Math.floor(run.random() * left.length);
          rest = [...left.slice(from), ...left.slice(0, from)];
          break;
        }
        yield [group[at] ?? '', each] as const;
      }
      overtaken = run.counts.overtaken;
    }
  } catch (error) {
    run.stop({ kind: 'error', error, alike: false });
  }
}

type Outcomes = ReadonlyMap<string, TextOutcome>;

export function settled(texts: readonly TextOfJob[], outcomes: Outcomes): SettledTexts {
  const settle = async () => {
    for (const outcome of outcomes.values()) if (outcome.kind === 'failed') await outcome.claim?.forget();
  };
  return { kind: 'scored', results: resultsOf(texts, outcomes), settle };
}

/** `why`: what stopped the texts that have no outcome. */
function resultsOf(texts: readonly TextOfJob[], outcomes: Outcomes, why?: unknown): readonly TextResult[] {
  const seen = new Set<string>();
  return texts.map(({ id, text }): TextResult => {
    const outcome = outcomes.get(text) ?? { kind: 'unsettled', error: why, calls: 0 };
    // Calls are counted for the first of equal texts only; the others found the result.
    const calls = seen.has(text) ? 0 : outcome.calls;
    seen.add(text);
    const counted = { calls, paidAgain: Math.max(0, calls - 1) };
    switch (outcome.kind) {
      case 'failed':
        return { id, error: outcome.error, cached: false, ...counted };
      case 'unsettled':
        return { id, error: `not scored: ${errorText(outcome.error)}`, cached: false, ...counted };
      case 'scored':
        return { id, result: outcome.result, cached: calls === 0, ...counted };
      default:
        return outcome satisfies never;
    }
  });
}
