import type { Sentiment, SentimentRequest } from '../../../platform/index.ts';
import { cacheKey, callsOf, isHeld, parseCacheRow, parseResult } from './cache-row.ts';
import { type ClaimOptions, createTextClaim, type Taken, type TextClaim } from './text-claim.ts';

export type ScoreCacheOptions = ClaimOptions & {
  /** The platform's host: the same text on two platforms is scored twice. */
  readonly host: string;
};

/** The results of all texts and requests, shared by all workers: the first to claim a text pays for it. */
export type ScoreCache = {
  /**
   * What is known of a text, by one read that claims nothing: its result, or that another worker has it, or a claim
   * that can be made. `payer` names the job that the text belongs to: a result that the same job paid for in an earlier
   * try is returned with the calls it took.
   */
  look(request: SentimentRequest, payer?: string): Promise<Looked>;
  /** The result, if there is one. */
  find(request: SentimentRequest): Promise<Sentiment | undefined>;
};

type Looked = Taken | { readonly kind: 'open'; readonly claim: TextClaim };

export function createScoreCache(options: ScoreCacheOptions): ScoreCache {
  const { table, host, now } = options;
  const look: ScoreCache['look'] = async (request, payer) => {
    const key = cacheKey(host, request);
    const stored = await table.get(key);
    const row = stored && parseCacheRow(stored);
    if (row?.state === 'SCORED')
      return { kind: 'scored', result: parseResult(row), calls: callsOf(row, payer) };
    if (row && isHeld(row, now())) return { kind: 'held', untilMs: row.leaseEndsMs };
    return { kind: 'open', claim: createTextClaim({ key, text: request.text, payer, stored }, options) };
  };
  return {
    look,
    async find(request) {
      const looked = await look(request);
      return looked.kind === 'scored' ? looked.result : undefined;
    },
  };
}
