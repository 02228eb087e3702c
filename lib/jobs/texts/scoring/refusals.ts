import { canonicalJson } from '../../../base/index.ts';
import { textHashOf } from '../cache/cache-row.ts';

/**
 * How many different texts in a row the platform must refuse before it is not the texts. Before any text has succeeded,
 * the request itself may be wrong (a model, instructions), so few are tried. Afterwards it is known to be right, and
 * files are often sorted: a hundred refusals in a row are more likely something that all texts share, such as credits
 * that have run out.
 */
const MOST_REFUSED = { beforeSuccess: 10, afterSuccess: 100 };

/** The refusals of texts by one request, in a row: over all chunks that share it. */
export type Refusals = {
  /** Records a refused text. True if it was one too many; then the row begins anew, as before any success. */
  readonly refused: (text: string) => boolean;
  /** Records that a text was scored. */
  readonly succeeded: () => void;
  /** Records that the request has scored a text before: a result of it is in the cache, or in a part. */
  readonly hasScored: () => void;
};

export function createRefusals(): Refusals {
  const inARow = new Set<string>();
  let most = MOST_REFUSED.beforeSuccess;
  return {
    refused(text) {
      // The same text in many chunks is one text.
      inARow.add(textHashOf(text));
      if (inARow.size < most) return false;
      inARow.clear();
      most = MOST_REFUSED.beforeSuccess;
      return true;
    },
    succeeded() {
      inARow.clear();
      most = MOST_REFUSED.afterSuccess;
    },
    hasScored() {
      most = MOST_REFUSED.afterSuccess;
    },
  };
}

/** How many requests a process remembers: those of a few batches at a time. */
const MOST_REQUESTS = 100;

/** The refusals of each request of a process that does chunks of several batches. */
export function createRefusalsOf(): (request: object) => Refusals {
  const known = new Map<string, Refusals>();
  return (request) => {
    const name = canonicalJson(request);
    const refusals = known.get(name) ?? createRefusals();
    // The one that was used last is the last to go.
    known.delete(name);
    known.set(name, refusals);
    if (known.size > MOST_REQUESTS) for (const [first] of [...known].slice(0, 1)) known.delete(first);
    return refusals;
  };
}
