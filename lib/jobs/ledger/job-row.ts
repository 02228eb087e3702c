import * as z from 'zod/mini';
import { parseOwnJson } from '../../base/json/index.ts';
import type { Json, Row } from '../../table/index.ts';

const count = z.int().check(z.minimum(0));

// Values of `parseOwnJson` are JSON.
const json = z.custom<Json>(() => true);

export const endStates = { done: 'DONE', failed: 'FAILED', unknown: 'UNKNOWN' } as const;

export const jobStates = ['CLAIMED', 'SENT', ...Object.values(endStates)] as const;

/** Why a job did not succeed. The ledger's own kinds: `cancelled`, `workers-died`, `answer-lost`, `never-sent`, `resolved`. */
const errorSchema = z.catchall(z.object({ kind: z.string(), message: z.string() }), z.optional(json));
export type JobError = Readonly<z.infer<typeof errorSchema>>;

/** The response, the reason why there is none, or the key of a staged object that holds it. */
export const outcomeSchema = z.object({
  status: z.literal(['done', 'failed', 'unknown']),
  response: z.exactOptional(json),
  error: z.exactOptional(errorSchema),
  staged: z.exactOptional(z.string()),
  /** The key of the stored result, the only place of the response once the row was pruned. */
  result: z.exactOptional(z.string()),
  note: z.exactOptional(z.string()),
});
export type Outcome = Readonly<z.infer<typeof outcomeSchema>>;

/** An outcome that is not staged yet: a large response may be in UTF-8. */
export type RunOutcome = Omit<Outcome, 'response'> & { readonly response?: Json | Buffer };

const outcomeText = z.pipe(
  z.pipe(
    z.string(),
    z.transform((text): unknown => {
      try {
        return parseOwnJson(text);
      } catch {
        // Not an outcome.
        return undefined;
      }
    }),
  ),
  outcomeSchema,
);

const rowSchema = z.object({
  id: z.string(),
  /** Absent, like `contentHash` and `sender`, where the job was cancelled before its message was seen. */
  type: z.exactOptional(z.string()),
  contentHash: z.exactOptional(z.string()),
  /** Who sent the message that was claimed first. */
  sender: z.exactOptional(z.string()),
  state: z.literal(jobStates),
  /** Rises with every claim; only the holder of the highest fence may write. */
  fence: count,
  /** The delivery that claimed it last, so that a claim without a response is recognized as its own. */
  by: z.exactOptional(z.string()),
  /** When the holder's lease ends; absent without a holder. */
  leaseUntilMs: z.exactOptional(z.number()),
  /** Sends that have started since the job was created or reopened. */
  attempts: count,
  /**
   * How many of these say nothing about the job: not executed, failed in an outage of the platform, or their worker
   * died.
   */
  unsentAttempts: z.exactOptional(count),
  /** Tries since then that failed and executed nothing, with a send or without. */
  unsentTries: z.exactOptional(count),
  /** Expired leases that were taken over since then, or since the job last made progress: deaths of workers. */
  takeovers: count,
  /** How many of these workers ran no other job. */
  deathsAlone: z.exactOptional(count),
  /** The holder runs no other job. */
  isAlone: z.exactOptional(z.literal(true)),
  /** The day of the first claim, YYYY-MM-DD in UTC: the `dt` of the job's result. */
  dt: z.string(),
  createdAt: z.number(),
  /** The first claim since the job was created or reopened. */
  startedAt: z.exactOptional(z.number()),
  /** Later than every earlier end of the job. */
  finishedAt: z.exactOptional(z.number()),
  /** The last end of a reopened job; for a settled one, when it was called unknown. */
  earlierFinishedAt: z.exactOptional(z.number()),
  /** The fence of the last send that was not taken back. */
  sentFence: z.exactOptional(count),
  /** While a send is repeated: the fence of the send before it, whose outcome is unknown. */
  earlierSentFence: z.exactOptional(count),
  /** A failed job: it is reopened only by its id. A running one: its worker sends no more. */
  cancelled: z.exactOptional(z.boolean()),
  /** Stored as text: a function's response may be nested deeper, or have other numbers, than a table accepts. */
  outcome: z.exactOptional(outcomeText),
});

export type JobRow = Readonly<z.infer<typeof rowSchema>>;

/** Throws a `LedgerError` that names the invalid member if the row is not a job’s. */
export function fromRow(row: Row): JobRow {
  const parsed = rowSchema.safeParse(row);
  if (parsed.success) return parsed.data;
  const fault = parsed.error.issues[0]?.path.join('.') ?? '';
  throw new LedgerError(`read job ${row['id']}: expected a job row, got one with an invalid ${fault}`);
}

class LedgerError extends Error {
  override readonly name = 'LedgerError';
}

export type EndedJobRow = JobRow & {
  readonly state: (typeof endStates)[Outcome['status']];
  readonly finishedAt: number;
  readonly outcome: Outcome;
};

/** The row of a job that a worker holds, as returned by the ledger. */
export type Claim = JobRow & { readonly state: 'CLAIMED' | 'SENT'; readonly leaseUntilMs: number };

/** The proof of a claim: any row of it, however old. */
export type Holder = Pick<Claim, 'id' | 'fence' | 'by'>;

export const hasEnded = (row: JobRow): row is EndedJobRow => row.outcome !== undefined;

/** The kinds of errors of jobs that the platform executed: a function ran and failed, a formula was stored as INVALID. */
export const EXECUTED = 'execution';
export const INVALID_FORMULA = 'invalid-formula';

/** Whether a job with this error was executed, and has had its effects: it runs again only if a person names it. */
export const wasExecuted = (error: unknown): boolean =>
  [EXECUTED, INVALID_FORMULA].includes(Object(error ?? {}).kind);

/** How the errors of cancelled jobs begin, and of rows of their texts. */
export const CANCELLED = 'the job was cancelled';

export const isCancelled = ({ cancelled, outcome }: JobRow): boolean =>
  cancelled === true || outcome?.error?.kind === 'cancelled';

/** Whether a person reported the outcome of an unknown job: it was claimed, so its type is known. */
export const isSettled = (row: JobRow): row is EndedJobRow & { readonly type: string } =>
  row.type !== undefined &&
  row.outcome !== undefined &&
  (row.outcome.note !== undefined || row.outcome.error?.kind === 'resolved');

export const blankRow = (id: string, nowMs: number): JobRow => ({
  id,
  state: 'CLAIMED',
  fence: 0,
  attempts: 0,
  takeovers: 0,
  dt: new Date(nowMs).toISOString().slice(0, 10),
  createdAt: nowMs,
});

/** Whether only the end of the job is left in the row: `prune --jobs` removed the rest. */
export const isPruned = ({ outcome }: JobRow): boolean => outcome?.result !== undefined;

export const withoutLease = ({ leaseUntilMs: _, ...row }: JobRow): JobRow => row;

/**
 * The row once the job has ended. Of two ends of one job the later one wins, so it gets the later time, even if the
 * clock went back.
 */
export function endOf(row: JobRow, outcome: Outcome, nowMs: number): EndedJobRow {
  const { earlierFinishedAt: _, cancelled, ...rest } = withoutLease(row);
  const before = row.finishedAt ?? row.earlierFinishedAt ?? Number.NEGATIVE_INFINITY;
  const mark = cancelled && outcome.status !== 'done' ? { cancelled } : {};
  const finishedAt = Math.max(nowMs, before + 1);
  return { ...rest, ...mark, state: endStates[outcome.status], finishedAt, outcome };
}

export const failure = (status: 'failed' | 'unknown', kind: string, message: string): Outcome => ({
  status,
  error: { kind, message },
});
