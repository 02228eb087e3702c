import * as z from 'zod/mini';
import { parseOwnJson } from '../../base/index.ts';
import type { Json, Row } from '../../table/index.ts';
import type { JobRow } from './job-row.ts';

/**
 * A job row as the table stores it. The outcome is stored as text: what a function returns may be nested deeper, or
 * have other numbers, than a table accepts.
 */
export const toRow = ({ outcome, ...rest }: JobRow): Row => ({
  ...rest,
  ...(outcome ? { outcome: JSON.stringify(outcome) } : {}),
});

/** The job row in a stored row. Throws a `LedgerError` if the row is not a job’s. */
export function fromRow(row: Row): JobRow {
  const parsed = rowSchema.safeParse(row);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new LedgerError({ kind: 'bad-row', id: String(row['id']), fault: issue?.path.join('.') ?? '' });
}

type LedgerFailure =
  /** `fault` names the invalid member. */
  { readonly kind: 'bad-row'; readonly id: string; readonly fault: string };

/** The ledger's only error of its own. */
class LedgerError extends Error {
  override readonly name = 'LedgerError';
  readonly failure: LedgerFailure;

  constructor(failure: LedgerFailure) {
    super(`read job ${failure.id}: expected a job row, got one with an invalid ${failure.fault}`);
    this.failure = failure;
  }
}

const count = z.int().check(z.minimum(0));

// What `parseOwnJson` returned is JSON.
const json = z.custom<Json>(() => true);

const errorSchema = z.catchall(z.object({ kind: z.string(), message: z.string() }), json);

/** How a job ended, as JSON. */
export const outcomeSchema = z.object({
  status: z.literal(['done', 'failed', 'unknown']),
  response: z.exactOptional(json),
  error: z.exactOptional(errorSchema),
  staged: z.exactOptional(z.string()),
  note: z.exactOptional(z.string()),
});

const outcomeText = z.pipe(
  z.pipe(
    z.string(),
    z.transform((text): unknown => {
      try {
        return parseOwnJson(text);
      } catch {
        // Which is no outcome.
        return undefined;
      }
    }),
  ),
  outcomeSchema,
);

const rowSchema = z.object({
  id: z.string(),
  type: z.exactOptional(z.string()),
  contentHash: z.exactOptional(z.string()),
  sender: z.exactOptional(z.string()),
  state: z.literal(['CLAIMED', 'SENT', 'DONE', 'FAILED', 'UNKNOWN']),
  fence: count,
  by: z.exactOptional(z.string()),
  leaseUntilMs: z.exactOptional(z.number()),
  attempts: count,
  unsentAttempts: z.exactOptional(count),
  unsentTries: z.exactOptional(count),
  takeovers: count,
  dt: z.string(),
  createdAt: z.number(),
  startedAt: z.exactOptional(z.number()),
  finishedAt: z.exactOptional(z.number()),
  earlierFinishedAt: z.exactOptional(z.number()),
  sentFence: z.exactOptional(count),
  earlierSentFence: z.exactOptional(count),
  cancelled: z.exactOptional(z.boolean()),
  outcome: z.exactOptional(outcomeText),
});
