import type { PlatformError, PlatformFailure } from '../../../platform/index.ts';

/*
 * When a chunk stops. A text that has no result after all of its tries says little: the text may be at fault, or
 * something that all texts share (the token, the request, the platform). Different texts that fail alike one after the
 * other, with no success between them, say that it is not the text.
 */

/** The latest texts that failed alike: how, and how many in a row. */
export type Alike = { readonly name: string | undefined; readonly texts: number };

export const noneAlike: Alike = { name: undefined, texts: 0 };

/** How many texts must fail alike in one chunk. Refusals of texts have limits of their own: `refusals.ts`. */
const MOST_ALIKE = 3;

/** The row of failures after another text has failed. */
export function afterFailedText({ name, texts }: Alike, failure: PlatformFailure): Alike {
  const now = likenessOf(failure);
  return { name: now, texts: now === name ? texts + 1 : 1 };
}

/** Whether a text that failed like this was one too many. */
export const mustStop = ({ texts }: Alike, failure: PlatformFailure): boolean =>
  !isRefusedText(failure) && texts >= MOST_ALIKE;

/** True if the platform refused the text itself, as far as the status says: any 4xx but those that all texts share. */
export const isRefusedText = (failure: PlatformFailure): boolean =>
  failure.kind === 'status' && failure.status >= 400 && failure.status < 500 && !isShared(failure);

/** Statuses of a 4xx that say nothing about the text: they are about the token, the address, or the load. */
const SHARED_STATUSES: readonly number[] = [401, 403, 404, 408, 429];

const isShared = (failure: PlatformFailure) =>
  failure.kind === 'status' && SHARED_STATUSES.includes(failure.status);

/**
 * True if a text that failed like this, after its tries, fails alone: its row ends with this error. Any other failure
 * leaves the text to a later try of its job.
 */
export function isOfText({ failure, attempts }: Pick<PlatformError, 'failure' | 'attempts'>): boolean {
  switch (failure.kind) {
    case 'status':
      return failure.status >= 400 && !isShared(failure);
    case 'shape':
    case 'too-large':
      return true;
    // An invalid token is an input fault too, but one that takes an attempt to find.
    case 'input':
      return attempts === 0;
    case 'wait':
    case 'redirect':
    case 'not-json':
    case 'cut':
    case 'timeout':
    case 'connection':
    case 'endless':
      return false;
    default:
      return failure satisfies never;
  }
}

/** Statuses with which the platform refuses a request that it has read: it scored nothing, and charges nothing. */
const REFUSALS: readonly number[] = [400, 403, 404, 413, 415, 422];

/** True on proof that a call which left was not executed, beyond what is proved for every operation. */
export const wasRefused = (failure: PlatformFailure): boolean =>
  failure.kind === 'status' && REFUSALS.includes(failure.status);

/** Failures of one name are alike. A platform in trouble fails in several ways by turns. */
function likenessOf(failure: PlatformFailure): string {
  switch (failure.kind) {
    case 'status':
      return failure.status >= 500 ? TROUBLE : `status ${failure.status}`;
    case 'cut':
    case 'timeout':
    case 'connection':
    case 'not-json':
    case 'redirect':
      return TROUBLE;
    default:
      return failure.kind;
  }
}

const TROUBLE = 'trouble';

/** The facts about a text whose turn at the pace is further off than a call may wait. Times in epoch milliseconds. */
export type LongWait = {
  readonly waitMs: number;
  readonly nowMs: number;
  readonly deadlineMs: number | undefined;
  /** Whether a call of the chunk has left since this text was last refused, or since the chunk began. */
  readonly hasProgressed: boolean;
};

/** The longest wait that a worker sits out. */
const LONGEST_MS = 120_000;

/**
 * Whether a chunk waits where it is, or goes back to the queue. As long as its calls leave, it waits: going back and
 * coming again costs receives and writes, and another chunk in its place would wait no less.
 */
export const waitsHere = ({ waitMs, nowMs, deadlineMs, hasProgressed }: LongWait): boolean =>
  hasProgressed && waitMs <= LONGEST_MS && nowMs + waitMs < (deadlineMs ?? Number.POSITIVE_INFINITY);
