import { preview, printJson } from '../../../base/index.ts';
import { sentBytes } from '../../queue/sendable.ts';
import type { ScoreCache } from '../cache/score-cache.ts';
import { isBatchName, LONGEST_BATCH_NAME } from './batch.ts';
import type { BatchRequest } from './chunks.ts';
import { countRows, type Preview, previewBatch } from './preview.ts';

const MOST_DAYS = 10;
const DAY_SECONDS = 24 * 3_600;

/** How many bytes a request may take up in each message of its batch; the rest is for texts. */
const MOST_REQUEST_BYTES = 48 * 1_024;

/** Nothing was sent; `reasons` give the arithmetic. */
export type Refusal = {
  readonly kind: 'refused';
  readonly reasons: readonly string[];
  /** Undefined if the request itself is invalid. */
  readonly preview: Preview | undefined;
};

/** What a batch is checked with. */
export type CheckOptions = {
  readonly cache: ScoreCache;
  /** Requests that may be sent per second. */
  readonly rate: number;
  /** Refuses a batch that needs more calls. Default: only the limit of ten days applies. */
  readonly maxCalls?: number | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** `rows`: all rows of the source, including bad ones. */
export type Checked = { readonly kind: 'accepted'; readonly rows: number } | Refusal;

/**
 * Whether a batch may begin. Without `maxCalls` the rows are counted first: if the rate allows one call per row within
 * the limit, there is no need to find the distinct texts or look them up.
 */
export async function checkBatch(
  { batch, request, rows }: BatchRequest,
  { cache, rate, maxCalls, signal }: CheckOptions,
): Promise<Checked> {
  const faults = [...nameFaults(batch), ...requestFaults(request)];
  if (faults.length > 0) return { kind: 'refused', reasons: faults, preview: undefined };
  if (maxCalls === undefined) {
    const counted = await countRows(rows(), signal);
    if (counted <= mostCalls(rate)) return { kind: 'accepted', rows: counted };
  }
  const found = await previewBatch({ rows, request, cache, rate, signal });
  const reasons = refusals(found, { rate, maxCalls });
  return reasons.length === 0
    ? { kind: 'accepted', rows: found.rows }
    : { kind: 'refused', reasons, preview: found };
}

const mostCalls = (rate: number) => rate * MOST_DAYS * DAY_SECONDS;

/** The reasons to refuse a batch that takes this much, each with its arithmetic. Empty if there are none. */
export function refusals(
  { rows, texts, cached, calls }: Preview,
  { rate, maxCalls }: { readonly rate: number; readonly maxCalls?: number | undefined },
): readonly string[] {
  const counted = `${rows} rows hold ${texts} distinct texts, of which ${cached} are cached: ${calls} calls`;
  const days = Math.ceil((10 * calls) / rate / DAY_SECONDS) / 10;
  return [
    ...(maxCalls !== undefined && calls > maxCalls ? [`${counted}, over the limit of ${maxCalls}`] : []),
    ...(calls > mostCalls(rate)
      ? [`${counted}, which take ${days} days at ${rate} a second, over the limit of ${MOST_DAYS} days`]
      : []),
  ];
}

const nameFaults = (batch: string) =>
  isBatchName(batch)
    ? []
    : [`batch: expected 1 to ${LONGEST_BATCH_NAME} of A-Z a-z 0-9 . _ : -, got ${preview(batch)}`];

function requestFaults(request: BatchRequest['request']): readonly string[] {
  const bytes = sentBytes(printJson(request));
  return bytes <= MOST_REQUEST_BYTES
    ? []
    : [`request: expected at most ${MOST_REQUEST_BYTES} bytes as JSON, got ${bytes}`];
}
