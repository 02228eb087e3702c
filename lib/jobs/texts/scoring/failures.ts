import { canonicalJson } from '../../../base/json/index.ts';
import type { PlatformError, PlatformFailure } from '../../../platform/index.ts';
import { textHashOf } from '../cache/score-cache.ts';

/*
 * A text without a result after all of its tries says little: it may be at fault, or something that all texts share.
 * Different texts that fail alike, with no success between them, say that it is not the text.
 */

const MAX_ALIKE = 3;

/**
 * The same of texts that the platform refuses. Before any text has succeeded, the request may be wrong; afterwards a hundred
 * in a row, since files are often sorted, are more likely something shared, such as credits that have run out.
 */
const MAX_REFUSED = { beforeSuccess: 10, afterSuccess: 100 };

/** The failures of texts by one request since the last success. */
export type Failures = ReturnType<typeof createFailures>;

export function createFailures() {
  /** The hashes of texts by how they failed: the same text in many chunks is one text. */
  const failed = new Map<string, Set<string>>();
  let mostRefused = MAX_REFUSED.beforeSuccess;
  /** Records that the request has scored a text before: a result of it is in the cache, or in a part. */
  const hasScored = () => {
    mostRefused = MAX_REFUSED.afterSuccess;
  };
  return {
    hasScored,
    /** Records a text that failed. True if it was one too many; then they count anew, as before any success. */
    failed(text: string, failure: PlatformFailure): boolean {
      const name = likenessOf(failure);
      const alike = (failed.get(name) ?? new Set()).add(textHashOf(text));
      failed.set(name, alike);
      if (alike.size < (name === REFUSED ? mostRefused : MAX_ALIKE)) return false;
      failed.clear();
      mostRefused = MAX_REFUSED.beforeSuccess;
      return true;
    },
    succeeded() {
      failed.clear();
      hasScored();
    },
  };
}

/** The failures of each request of a process that does chunks of several batches. */
export function createFailuresOf(): (request: object) => Failures {
  const known = new Map<string, Failures>();
  return (request) => {
    const name = canonicalJson(request);
    const failures = known.get(name) ?? createFailures();
    known.set(name, failures);
    return failures;
  };
}

const TROUBLE = 'trouble';
const REFUSED = 'refused';

/** Statuses of a 4xx that say nothing about the text: they are about the token, the address, or the load. */
const SHARED_STATUSES: readonly number[] = [401, 403, 404, 408, 429];

/** Failures of one name are alike. A platform in trouble fails in several ways by turns. */
function likenessOf(failure: PlatformFailure): string {
  switch (failure.kind) {
    case 'status': {
      const { status } = failure;
      if (status >= 500) return TROUBLE;
      return status < 400 || SHARED_STATUSES.includes(status) ? `status ${status}` : REFUSED;
    }
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

/** Whether a text that failed like this, after its tries, fails alone. Any other failure leaves it to a later try of its job. */
export function isOfText({ failure, attempts }: Pick<PlatformError, 'failure' | 'attempts'>): boolean {
  switch (failure.kind) {
    case 'status':
      return failure.status >= 500 || likenessOf(failure) === REFUSED;
    case 'shape':
    case 'too-large':
      return true;
    // An invalid token is an input fault too, but one that takes an attempt to find.
    case 'input':
      return attempts === 0;
    default:
      return false;
  }
}

const REFUSALS: readonly number[] = [400, 403, 404, 413, 415, 422];

/** True on proof that a call which left was not executed, beyond what is proved for every operation. */
export const wasRefused = (failure: PlatformFailure): boolean =>
  failure.kind === 'status' && REFUSALS.includes(failure.status);
