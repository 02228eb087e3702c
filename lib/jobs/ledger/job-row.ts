import * as z from 'zod/mini';
import { parseOwnJson } from '../../base/json/index.ts';
import type { Json, Row } from '../../table/index.ts';

const count = z.int().check(z.minimum(0));

// Values of `parseOwnJson` are always JSON.
const json = z.custom<Json>(() => true);

/** The state of an ended job's row, by its outcome. */
export const endStates = { done: 'DONE', failed: 'FAILED', unknown: 'UNKNOWN' } as const;

/** All states of a row. */
export const jobStates = ['CLAIMED', 'SENT', ...Object.values(endStates)] as const;

/**
 * Why a job did not succeed. The ledger's own kinds are `cancelled`, `workers-died`, `answer-lost`,
 * `never-sent` and `resolved`.
 */
const errorSchema = z.catchall(z.object({ kind: z.string(), message: z.string() }), z.optional(json));
export type JobError = Readonly<z.infer<typeof errorSchema>>;

/** How a job ended. Its response, if any, is in `response`, or in the object with the key `staged` or `result`. */
export const outcomeSchema = z.object({
  status: z.literal(['done', 'failed', 'unknown']),
  response: z.exactOptional(json),
  error: z.exactOptional(errorSchema),
  staged: z.exactOptional(z.string()),
  /** The key of the stored result, the only place of the response after the row has been pruned. */
  result: z.exactOptional(z.string()),
  note: z.exactOptional(z.string()),
});
export type Outcome = Readonly<z.infer<typeof outcomeSchema>>;

/** An outcome that is not staged yet. A large response may be a buffer of UTF-8. */
export type RunOutcome = Omit<Outcome, 'response'> & { readonly response?: Json | Buffer };

const outcomeText = z.pipe(
  z.pipe(
    z.string(),
    z.transform((text): unknown => {
      try {
        return parseOwnJson(text);
      } catch {
        // The schema refuses `undefined`.
        return undefined;
      }
    }),
  ),
  outcomeSchema,
);

const rowSchema = z.object({
  id: z.string(),
  /**
   * The job's type. Like `contentHash` and `sender`, it is absent if the job was cancelled before its message was seen.
   */
  type: z.exactOptional(z.string()),
  contentHash: z.exactOptional(z.string()),
  /** The sender of the message that was first claimed. */
  sender: z.exactOptional(z.string()),
  state: z.literal(jobStates),
  /** The number of the latest claim: it rises with every claim, and only the holder of the highest fence may write. */
  fence: count,
  /**
   * The delivery that made the latest claim. If the response of its claim is lost, the delivery recognizes
   * the claim as its own.
   */
  by: z.exactOptional(z.string()),
  /** When the holder's lease ends, in epoch milliseconds; absent if there is no holder. */
  leaseUntilMs: z.exactOptional(z.number()),
  /** How many sends have started since the job was created or reopened. */
  attempts: count,
  /**
   * How many of these attempts show nothing about the job: they were not executed, they failed in an outage of
   * the platform, or their worker died.
   */
  unsentAttempts: z.exactOptional(count),
  /** How many deliveries since the job was created or reopened failed and executed nothing. */
  unsentTries: z.exactOptional(count),
  /**
   * How many workers died while running the job (their leases expired), since it was created or reopened, or last
   * made progress.
   */
  takeovers: count,
  /** How many of these workers were running no other job, since a worker last released it. */
  deathsAlone: z.exactOptional(count),
  /** Whether the holder runs no other job. */
  isAlone: z.exactOptional(z.literal(true)),
  /** The day of the first claim, YYYY-MM-DD in UTC: the `dt` of the job's result. */
  dt: z.string(),
  createdAt: z.number(),
  /** When the job was first claimed since it was created or reopened, in epoch milliseconds. */
  startedAt: z.exactOptional(z.number()),
  /** When the job ended, in epoch milliseconds; always later than its earlier ends. */
  finishedAt: z.exactOptional(z.number()),
  /** When a reopened job last ended, or when a settled job became unknown. */
  earlierFinishedAt: z.exactOptional(z.number()),
  /** The fence of the last send that was not taken back. */
  sentFence: z.exactOptional(count),
  /** While a send is being repeated: the fence of the send before it, whose outcome is unknown. */
  earlierSentFence: z.exactOptional(count),
  /** A failed job with this mark is reopened only by its id. The worker of a running job sends no more requests. */
  cancelled: z.exactOptional(z.boolean()),
  /**
   * The outcome, stored as a JSON string: a function's response may be nested more deeply than a table accepts,
   * or have numbers that it does not accept.
   */
  outcome: z.exactOptional(outcomeText),
});

export type JobRow = Readonly<z.infer<typeof rowSchema>>;

/**
 * Parses a row of the ledger. Throws a `LedgerError` with the path of the invalid field if it is not the row of a job.
 */
export function fromRow(row: Row): JobRow {
  const parsed = rowSchema.safeParse(row);
  if (parsed.success) return parsed.data;
  const fault = parsed.error.issues[0]?.path.join('.') ?? '';
  throw new LedgerError(`read job ${row['id']}: the row in the table has an invalid field: ${fault}`);
}

class LedgerError extends Error {
  override readonly name = 'LedgerError';
}

/** The row of a job that has ended. */
export type EndedJobRow = JobRow & {
  readonly state: (typeof endStates)[Outcome['status']];
  readonly finishedAt: number;
  readonly outcome: Outcome;
};

/** The row of a job that a worker holds, as the ledger returned it. */
export type Claim = JobRow & { readonly state: 'CLAIMED' | 'SENT'; readonly leaseUntilMs: number };

/** Identifies a claim. Any earlier row of the claim will do. */
export type Holder = Pick<Claim, 'id' | 'fence' | 'by'>;

/** Whether the job has an outcome. */
export const hasEnded = (row: JobRow): row is EndedJobRow => row.outcome !== undefined;

/**
 * The kinds of errors of jobs that the platform executed: a function ran and failed, or a formula was stored
 * as INVALID.
 */
export const EXECUTED = 'execution';
export const INVALID_FORMULA = 'invalid-formula';

/** Whether the job with this error was executed, and so took effect. It runs again only if a user gives its id. */
export const wasExecuted = (error: unknown): boolean =>
  [EXECUTED, INVALID_FORMULA].includes(Object(error ?? {}).kind);

/** The errors of cancelled jobs, and of the rows of their texts, begin with this. */
export const CANCELLED = 'the job was cancelled';

/** Whether the job was cancelled, or must stop because it was. */
export const isCancelled = ({ cancelled, outcome }: JobRow): boolean =>
  cancelled === true || outcome?.error?.kind === 'cancelled';

/** Whether a user reported the outcome of an unknown job. Such a job was claimed, so its type is known. */
export const isSettled = (row: JobRow): row is EndedJobRow & { readonly type: string } =>
  row.type !== undefined &&
  row.outcome !== undefined &&
  (row.outcome.note !== undefined || row.outcome.error?.kind === 'resolved');

/** The row of a job that no worker has claimed. */
export const blankRow = (id: string, nowMs: number): JobRow => ({
  id,
  state: 'CLAIMED',
  fence: 0,
  attempts: 0,
  takeovers: 0,
  dt: new Date(nowMs).toISOString().slice(0, 10),
  createdAt: nowMs,
});

/** Whether `prune --jobs` has reduced the row to its outcome. */
export const isPruned = ({ outcome }: JobRow): boolean => outcome?.result !== undefined;

/** The row of a job after its holder has released it. */
export const withoutLease = ({ leaseUntilMs: _, ...row }: JobRow): JobRow => row;

/**
 * The row of a job that has ended. If a job ends twice, the later outcome wins, so it gets a later time even if
 * the clock was set back.
 */
export function endOf(row: JobRow, outcome: Outcome, nowMs: number): EndedJobRow {
  const { earlierFinishedAt: _, cancelled, ...rest } = withoutLease(row);
  const before = row.finishedAt ?? row.earlierFinishedAt ?? Number.NEGATIVE_INFINITY;
  const mark = cancelled && outcome.status !== 'done' ? { cancelled } : {};
  const finishedAt = Math.max(nowMs, before + 1);
  return { ...rest, ...mark, state: endStates[outcome.status], finishedAt, outcome };
}

/** An outcome with an error. */
export const failure = (status: 'failed' | 'unknown', kind: string, message: string): Outcome => ({
  status,
  error: { kind, message },
});
