import { randomUUID } from 'node:crypto';
import { type Row, type RowKey, type StoredRow, type Table, TableError } from '../../table/index.ts';
import {
  blankRow,
  CANCELLED,
  type Claim,
  type EndedJobRow,
  endOf,
  failure,
  fromRow,
  type Holder,
  hasEnded,
  isCancelled,
  isPruned,
  isSettled,
  type JobRow,
  type Outcome,
  wasExecuted,
} from './job-row.ts';
import {
  type ClaimAnswer,
  type ClaimFacts,
  type Decision,
  decideAnnounce,
  decideClaim,
  decideEnd,
  decideProgress,
  decideRelease,
  decideRenew,
  decideSent,
  type JobRequest,
  type LookAnswer,
  type ReleaseOptions,
  runsAgain,
  type SentBy,
} from './transitions.ts';

/** How long rows that expire stay after their last write, in milliseconds: 30 days. */
export const ROW_LIFETIME_MS = 30 * 24 * 60 * 60 * 1_000;

type LedgerOptions = {
  readonly table: Table;
  /** The clock, in epoch milliseconds. Default: `Date.now`. */
  readonly now?: () => number;
  /** Whether `now` already shows the table's time. Default: always true. */
  readonly isTimeKnown?: () => boolean;
  /** Whether a response of the table has had a `Date` yet. Default: false. */
  readonly hasDates?: () => boolean;
  readonly newToken?: () => string;
};

/** The table of all jobs (see `createLedger`). */
export type Ledger = ReturnType<typeof createLedger>;

/**
 * The states of all jobs, in a table that all workers share: one row per job, changed by one conditional
 * write per step. The steps of a holder, and the claim of a new job, need no read. Failures of the table are
 * thrown as `TableError`: the step may have been stored anyway, and repeating it is safe.
 */
export function createLedger(options: LedgerOptions) {
  const { now = Date.now, newToken = randomUUID } = options;
  const { read, step, list } = createSteps(options);
  const time = createTime(read, options);
  const { setTime } = time;

  return {
    /** The clock of all leases, in epoch milliseconds: the table's, if it is known. */
    now,
    newName: newToken,
    /** Learns the table's time by reads from it, unless `now` shows that time already. */
    setTime,
    /** Stores the sender of a job, before the job can be claimed. Changes nothing if the job has a row. */
    announce: (request: JobRequest) =>
      step(request.id, (row) => decideAnnounce(row, request, now()), { isNew: true }),
    claim: createClaim({ step, now, ...time }),
    /** Records that a request leaves now. If this throws, no request may leave: repeat the step, or release the job. */
    sent: (holder: Holder) => step(holder.id, (row) => decideSent(row, holder), { holder }),
    /** Extends the lease to at least `leaseMs` from now. */
    async renew(holder: Holder, leaseMs: number) {
      await setTime();
      return step(holder.id, (row) => decideRenew(row, holder, { leaseMs, nowMs: now() }), { holder });
    },
    /** Records that a part of the job's work was stored. */
    progress: (holder: Holder) => step(holder.id, (row) => decideProgress(row, holder), { holder }),
    /**
     * Releases the job and withdraws its send. Also used after a claim whose response was lost: that claim may
     * have been stored, or may still be.
     */
    release: (holder: Holder & Partial<JobRequest>, options: ReleaseOptions = {}) =>
      step(holder.id, (row) => decideRelease(row, holder, { ...options, nowMs: now() }), { holder }),
    /** Stores the outcome of a job. */
    async end(holder: Holder, newOutcome: Outcome) {
      // The outcome in the form in which it will be read, so that a repeated write is recognized.
      const outcome = JSON.parse(JSON.stringify(newOutcome));
      return step(holder.id, (row) => decideEnd(row, holder, { outcome, nowMs: now() }), { holder });
    },
    /** The row of a job; undefined if it has none. */
    read: async (id: string) => (await read(id))?.row,
    /** Records an outcome that only a stored result shows. Changes nothing if the row already has an outcome. */
    adopt: (ended: EndedJobRow) =>
      step(ended.id, (row) =>
        row !== undefined && hasEnded(row) ? { answer: row } : { write: ended, answer: ended },
      ),
    /** Stops a job that has not been sent, even if its message has not arrived yet. */
    cancel: (id: string, options: CancelOptions = {}) =>
      step(id, (row) => decideCancel(row, { id, nowMs: now(), ...options })),
    /** Reopens a failed job. Its message must be put on the queue again. */
    reopen: (id: string, options: ReopenOptions = {}) => step(id, (row) => decideReopen(row, options)),
    /** Settles an unknown job with the outcome that a user reports. */
    resolve: (id: string, resolution: Resolution) =>
      step(id, (row) => decideResolve(row, { ...resolution, nowMs: now() })),
    /** Reduces an ended job's row to its outcome; false if the row may not be pruned. */
    prune: (id: string, stored: Parameters<typeof decidePrune>[1]) =>
      step(id, (row) => decidePrune(row, stored), { frees: true }),
    /** Lists all rows, in no particular order. For operators' commands, not for workers. */
    list,
  };
}

const createClaim =
  ({
    step,
    now,
    isTimeKnown,
    setTime,
  }: Pick<ReturnType<typeof createSteps>, 'step'> &
    ReturnType<typeof createTime> & { readonly now: () => number }) =>
  async (
    request: JobRequest,
    options: Omit<ClaimFacts, 'nowMs' | 'late'> & {
      /** Hint that this is most likely the first delivery, so that the claim need not read the row. */
      readonly isNew?: boolean;
      /** Finds the staged outcome of a send that is missing from the ledger. Default: no outcome is looked for. */
      readonly findOutcome?: (sent: SentBy) => Promise<Outcome | undefined>;
      /**
       * Called with each claim before it is written. If the write gets no response, no request may leave, and
       * the claim must be released.
       */
      readonly onTry?: (claim: Claim) => void;
    },
  ): Promise<ClaimAnswer> => {
    const { isNew = false, findOutcome, onTry, ...facts } = options;
    let late: NonNullable<ClaimFacts['late']> | undefined;
    const decide = (
      row: JobRow | undefined,
    ): Decision<ClaimAnswer | LookAnswer | { readonly kind: 'no-time' }> => {
      // Until the table's time is known, this clock may be a month off. It does not show whether a lease
      // has expired, nor when a new one ends.
      if (!isTimeKnown()) return { answer: { kind: 'no-time' } };
      const decision = decideClaim(row, request, { ...facts, late, nowMs: now() });
      if (decision.answer.kind === 'claimed') onTry?.(decision.answer.claim);
      return decision;
    };
    for (;;) {
      const answer = await step(request.id, decide, { isNew: isNew && late === undefined });
      if (answer.kind === 'no-time') {
        await setTime();
        continue;
      }
      if (answer.kind !== 'look') return answer;
      late = { sent: answer.sent, outcome: await findOutcome?.(answer.sent) };
    }
  };

/**
 * At most this many reads. Three agreeing responses correct the clock; the rest allow for a clock that is changed in the
 * meantime.
 */
const MAX_TIME_READS = 6;

/**
 * Creates the function that learns the table's time by reading a row that does not exist. If no response has
 * a `Date`, the clock here is used. Throws a `busy` TableError if the responses do not agree.
 */
function createTime(
  read: (id: string) => Promise<unknown>,
  { isTimeKnown: isKnown = () => true, hasDates = () => false }: LedgerOptions,
) {
  let hasLooked = false;
  const isTimeKnown = () => isKnown() || (hasLooked && !hasDates());
  return {
    isTimeKnown,
    async setTime(): Promise<void> {
      for (let reads = 0; reads < MAX_TIME_READS && !isTimeKnown(); reads += 1) await read(NO_JOB);
      hasLooked ||= !isKnown();
      if (!isTimeKnown()) throw new TableError('find the time of the table', { kind: 'busy', code: 'Date' });
    },
  };
}

const toRow = ({ outcome, ...rest }: JobRow): Row => ({
  ...rest,
  ...(outcome ? { outcome: JSON.stringify(outcome) } : {}),
});

/**
 * Creates the function that takes a step of a job: it decides from the job's row, and replaces that row by
 * the decision. The row is not read if it is known: the holder stored it, or it does not exist yet. A
 * write succeeds only over the very row from which it was decided; a decision that writes nothing is checked
 * against the stored row. If another writer was faster, the step is decided again from that writer's row.
 */
function createSteps({ table, newToken = randomUUID }: LedgerOptions) {
  const remembered = new WeakMap<Holder, { readonly row: JobRow; readonly token: string }>();
  const read = async (id: string) => toFound(await table.get(keyOf(id)));
  const step = async <Answer>(
    id: string,
    decide: (row: JobRow | undefined) => Decision<Answer>,
    /**
     * `holder`: most likely the row that it stored last is still the current one. `isNew`: most likely there is
     * no row. `frees`: the write makes the row smaller, so it may use a full disk's reserve; default: for holders.
     */
    options: { readonly holder?: Holder; readonly isNew?: boolean; readonly frees?: boolean } = {},
  ): Promise<Answer> => {
    const { holder, isNew = false, frees = holder !== undefined } = options;
    const known = holder && remembered.get(holder);
    let isCurrent = known === undefined && !isNew;
    let found = isCurrent ? await read(id) : known;
    for (;;) {
      const { write: row, answer } = decide(found?.row);
      if (row !== undefined) {
        const token = newToken();
        const condition = { expected: found?.token ?? null, token, lifetimeMs: ROW_LIFETIME_MS };
        // A holder's outcome must not be lost, so it may use the reserve. A send may not: its outcome needs
        // the reserve later.
        const mayUseReserve = frees && row.state !== 'SENT';
        const needsReserve = row.state === 'SENT';
        const written = await table.put(keyOf(id), toRow(row), { ...condition, mayUseReserve, needsReserve });
        if (written.kind === 'stored') {
          // The caller may take its next step with the holder or with the row in the answer.
          for (const each of [row, holder]) if (each) remembered.set(each, { row, token });
          return answer;
        }
        found = toFound(written.current);
      } else if (isCurrent) {
        return answer;
      } else {
        found = await read(id);
      }
      isCurrent = true;
    }
  };
  const list = async function* () {
    for await (const { row } of table.scan(PARTITION_PREFIX)) yield fromRow(row);
  };
  return { read, step, list };
}

const toFound = (
  stored: StoredRow | undefined,
): { readonly row: JobRow; readonly token: string } | undefined =>
  stored && { row: fromRow(stored.row), token: stored.token };

const PARTITION_PREFIX = 'job#';

/** The id for reads that only ask whether the table responds. */
const NO_JOB = '-';

const keyOf = (id: string): RowKey => ({ partition: `${PARTITION_PREFIX}${id}`, sort: '-' });

/* The transitions by operators, as listed in the table in `transitions.ts`. */

type CancelOptions = {
  /** Whether jobs of this type send many requests, and can stop between two requests. Default: false. */
  readonly stops?: (type: string) => boolean;
};

type CancelAnswer =
  | { readonly kind: 'cancelled'; readonly row: EndedJobRow }
  /** The job is running: its worker sends no more requests, and ends the job with the results so far. */
  | { readonly kind: 'stopping'; readonly row: JobRow }
  | { readonly kind: 'sent'; readonly row: JobRow }
  | { readonly kind: 'ended'; readonly row: EndedJobRow };

/** Decides what cancelling does to a job, as listed in `transitions.ts`. */
export function decideCancel(
  row: JobRow | undefined,
  { id, nowMs, stops }: CancelOptions & { readonly id: string; readonly nowMs: number },
): Decision<CancelAnswer> {
  if (row && hasEnded(row)) {
    if (row.state !== 'FAILED' || isCancelled(row)) return { answer: { kind: 'ended', row } };
    const marked: EndedJobRow = { ...row, cancelled: true };
    return { write: marked, answer: { kind: 'cancelled', row: marked } };
  }
  const isHeld = row?.leaseUntilMs !== undefined && nowMs < row.leaseUntilMs;
  if (row && (row.state === 'SENT' || isHeld) && row.type !== undefined && stops?.(row.type)) {
    const stopping: JobRow = { ...row, cancelled: true };
    return { write: stopping, answer: { kind: 'stopping', row: stopping } };
  }
  if (row?.state === 'SENT') return { answer: { kind: 'sent', row } };
  const before = `${CANCELLED} before it was sent${row?.sentFence === undefined ? '' : ' again'}`;
  const write = endOf(row ?? blankRow(id, nowMs), failure('failed', 'cancelled', before), nowMs);
  return { write, answer: { kind: 'cancelled', row: write } };
}

type ReopenOptions = {
  /** Whether to also reopen a job that was cancelled or executed, since a user gave its id. Default: false. */
  readonly isNamed?: boolean;
  /** Whether to reopen a job that the platform executed, since a user asked for all executed jobs. Default: false. */
  readonly executed?: boolean;
  /**
   * Whether to reopen the job whatever its outcome, for a message whose content may differ from the job's: a repeat
   * does no harm. Default: false.
   */
  readonly anyOutcome?: boolean;
};

/**
 * Decides whether a job is reopened. `refused`: the job has not failed or does not exist; or it was cancelled or
 * executed, and its id was not given.
 */
export function decideReopen(
  row: JobRow | undefined,
  options: ReopenOptions,
): Decision<
  | { readonly kind: 'reopened'; readonly row: JobRow }
  | { readonly kind: 'refused'; readonly row: JobRow | undefined }
> {
  if (row === undefined || !mayReopen(row, options)) return { answer: { kind: 'refused', row } };
  const { outcome: _, startedAt: _s, finishedAt, sentFence: _n, earlierSentFence: _e, ...known } = row;
  const {
    unsentAttempts: _a,
    unsentTries: _t,
    cancelled: _c,
    deathsAlone: _d,
    isAlone: _i,
    ...others
  } = known;
  const { contentHash, ...rest } = others;
  const content = options.anyOutcome || contentHash === undefined ? {} : { contentHash };
  const earlier = finishedAt === undefined ? {} : { earlierFinishedAt: finishedAt };
  const opened = { state: 'CLAIMED', fence: row.fence + 1, attempts: 0, takeovers: 0 } as const;
  const write: JobRow = { ...rest, ...content, ...earlier, ...opened };
  return { write, answer: { kind: 'reopened', row: write } };
}

/** Whether the outcome of a job, and these options, allow it to be reopened. */
export function mayReopen(row: JobRow, options: ReopenOptions): boolean {
  const { isNamed = false, executed = false, anyOutcome = false } = options;
  if (anyOutcome) return hasEnded(row);
  const isFree = !isCancelled(row) && (executed || !wasExecuted(row.outcome?.error));
  return row.state === 'FAILED' && (isNamed || isFree);
}

type Resolution = { readonly status: 'done' | 'failed'; readonly note: string };

/** Settles an unknown job with the outcome that a user reports. */
export function decideResolve(
  row: JobRow | undefined,
  { status, note, nowMs }: Resolution & { readonly nowMs: number },
): Decision<
  | { readonly kind: 'resolved'; readonly row: EndedJobRow }
  | { readonly kind: 'refused'; readonly row: JobRow | undefined }
> {
  // The same outcome is accepted again, with any note: the first command may have died before it stored the
  // result.
  if (row !== undefined && isSettled(row) && row.outcome.status === status)
    return { answer: { kind: 'resolved', row } };
  if (row?.state !== 'UNKNOWN' || !hasEnded(row)) return { answer: { kind: 'refused', row } };
  const { error: _, ...known } = row.outcome;
  const explanation = status === 'done' ? { note } : { error: { kind: 'resolved', message: note } };
  const write = {
    ...endOf(row, { ...known, status, ...explanation }, nowMs),
    earlierFinishedAt: row.finishedAt,
  };
  return { write, answer: { kind: 'resolved', row: write } };
}

/** Whether a row may be pruned: its job is done or failed for good, and its message was seen, so it has a result. */
export const mayPrune = (row: JobRow): row is EndedJobRow & { readonly type: string } =>
  hasEnded(row) && row.state !== 'UNKNOWN' && row.type !== undefined && !isPruned(row) && !runsAgain(row);

/** `result` is the key of the stored result for the outcome of `finishedAt`. A row with another outcome is not pruned. */
function decidePrune(
  row: JobRow | undefined,
  { finishedAt, result }: { readonly finishedAt: number; readonly result: string },
): Decision<boolean> {
  if (row === undefined || !mayPrune(row) || row.finishedAt !== finishedAt) return { answer: false };
  const { response: _, staged: __, error, ...ended } = row.outcome;
  const failed = error === undefined ? {} : { error: { kind: error.kind, message: error.message } };
  return { write: { ...row, outcome: { ...ended, ...failed, result } }, answer: true };
}
