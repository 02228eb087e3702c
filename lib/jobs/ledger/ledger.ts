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

/** How long rows that expire stay after their last write: 30 days. */
export const ROW_LIFETIME_MS = 30 * 24 * 60 * 60 * 1_000;

type LedgerOptions = {
  readonly table: Table;
  /** Epoch milliseconds. Default: `Date.now`. */
  readonly now?: () => number;
  /** Whether `now` is the table's time already. Default: always. */
  readonly isTimeKnown?: () => boolean;
  /** Whether any response of the table has had a `Date` so far. Default: none has. */
  readonly hasDates?: () => boolean;
  readonly newToken?: () => string;
  /** How long a row stays after its last write. Default: 30 days. */
  readonly expireAfterMs?: number;
};

export type Ledger = ReturnType<typeof createLedger>;

/**
 * The states of all jobs, in a table that all workers share: one row per job, changed by one conditional write per step.
 * The steps of a holder cost no reads, and neither does the claim of a new job. Failures of the table are thrown as
 * `TableError`; the step may have been taken all the same, and may be repeated.
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
    /** Reads from the table if `now` is not its time yet. */
    setTime,
    /** Records who sent a job before it can be claimed; changes nothing if the job is known. */
    announce: (request: JobRequest) =>
      step(request.id, (row) => decideAnnounce(row, request, now()), { isNew: true }),
    claim: createClaim({ step, now, ...time }),
    /** Records that a request leaves now. If it throws, no request may leave: repeat the step, or release the job. */
    sent: (holder: Holder) => step(holder.id, (row) => decideSent(row, holder), { holder }),
    /** Makes the lease last at least `leaseMs` from now. */
    async renew(holder: Holder, leaseMs: number) {
      await setTime();
      return step(holder.id, (row) => decideRenew(row, holder, { leaseMs, nowMs: now() }), { holder });
    },
    /** Records that a part of the job's work is stored. */
    progress: (holder: Holder) => step(holder.id, (row) => decideProgress(row, holder), { holder }),
    /** Releases the job, and takes its send back; also for a claim whose response was lost: it may be stored, or may be stored later. */
    release: (holder: Holder & Partial<JobRequest>, given: ReleaseOptions = {}) =>
      step(holder.id, (row) => decideRelease(row, holder, { ...given, nowMs: now() }), { holder }),
    async end(holder: Holder, given: Outcome) {
      // In the form in which it will be read, so that a repeated outcome is recognized.
      const outcome = JSON.parse(JSON.stringify(given));
      return step(holder.id, (row) => decideEnd(row, holder, { outcome, nowMs: now() }), { holder });
    },
    read: async (id: string) => (await read(id))?.row,
    /** Records an end that only a result shows; changes nothing if the ledger has one. */
    adopt: (ended: EndedJobRow) =>
      step(ended.id, (row) =>
        row !== undefined && hasEnded(row) ? { answer: row } : { write: ended, answer: ended },
      ),
    /** Stops a job that has not been sent, even one whose message has not arrived yet. */
    cancel: (id: string, given: CancelOptions = {}) =>
      step(id, (row) => decideCancel(row, { id, nowMs: now(), ...given })),
    /** Reopens a failed job; its message must be put on the queue again. */
    reopen: (id: string, given: ReopenOptions = {}) => step(id, (row) => decideReopen(row, given)),
    resolve: (id: string, resolution: Resolution) =>
      step(id, (row) => decideResolve(row, { ...resolution, nowMs: now() })),
    /** Removes all but the end from an ended job's row; false if it may not be pruned, or no longer. */
    prune: (id: string, stored: Parameters<typeof decidePrune>[1]) =>
      step(id, (row) => decidePrune(row, stored), { frees: true }),
    /** All rows, in no particular order: for people, not for workers. */
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
      /** Hint: the first delivery, so that the claim skips the read. */
      readonly isNew?: boolean;
      /** Finds the staged outcome of a send that the ledger does not have. Default: none exists. */
      readonly findOutcome?: (sent: SentBy) => Promise<Outcome | undefined>;
      /**
       * Called with each claim before it is written. If the write gets no response, no request may leave, and a release
       * must follow.
       */
      readonly onTry?: (trying: Claim) => void;
    },
  ): Promise<ClaimAnswer> => {
    const { isNew = false, findOutcome, onTry, ...facts } = options;
    let late: NonNullable<ClaimFacts['late']> | undefined;
    const decide = (
      row: JobRow | undefined,
    ): Decision<ClaimAnswer | LookAnswer | { readonly kind: 'no-time' }> => {
      // A clock that was just set may be a month off: it takes no lease, neither a free one nor an expired one.
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

/** More than the three responses that correct a clock, in case it is set again meanwhile. */
const MAX_LOOKS = 6;

/**
 * Learns the table's time by reading a missing row. If no response ever showed it, the clock here is used afterwards,
 * unless it is set again and again. Throws a `busy` TableError if the responses do not agree.
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
      for (let looks = 0; looks < MAX_LOOKS && !isTimeKnown(); looks += 1) await read(NOTHING);
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
 * Takes steps of jobs: each decides from the job's row, and writes its decision over that row. The row is not read if
 * it is known: a holder stored it, or none exists yet. A write succeeds only over the very row from which it was
 * decided; a decision that writes nothing is checked against the stored row. After a lost race the step is decided
 * again from the winning row.
 */
function createSteps({ table, newToken = randomUUID, expireAfterMs = ROW_LIFETIME_MS }: LedgerOptions) {
  const remembered = new WeakMap<Holder, { readonly row: JobRow; readonly token: string }>();
  const read = async (id: string) => toFound(await table.get(keyOf(id)));
  const step = async <Answer>(
    id: string,
    decide: (row: JobRow | undefined) => Decision<Answer>,
    /**
     * `holder`: the row that it stored last is current. `isNew`: most likely no row exists. `frees`: the write frees
     * space.
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
        const condition = { expected: found?.token ?? null, token, lifetimeMs: expireAfterMs };
        // A holder's knowledge of its job must not be lost; a send needs room for that, too.
        const mayUseReserve = frees && row.state !== 'SENT';
        const written = await table.put(keyOf(id), toRow(row), { ...condition, mayUseReserve });
        if (written.kind === 'stored') {
          // The answer holds the row that was written: it proves a claim as well as the holder does.
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

const NOTHING = '-';

const keyOf = (id: string): RowKey => ({ partition: `${PARTITION_PREFIX}${id}`, sort: '-' });

/* Transitions by operators, as the table in `transitions.ts` lists them. */

type CancelOptions = {
  /** Whether jobs of a type send many requests, and stop between two of them. Default: false. */
  readonly stops?: (type: string) => boolean;
};

type CancelAnswer =
  | { readonly kind: 'cancelled'; readonly row: EndedJobRow }
  /** Its worker sends no more, and ends the job with what it has. */
  | { readonly kind: 'stopping'; readonly row: JobRow }
  | { readonly kind: 'sent'; readonly row: JobRow }
  | { readonly kind: 'ended'; readonly row: EndedJobRow };

export function decideCancel(
  row: JobRow | undefined,
  { id, nowMs, stops }: CancelOptions & { readonly id: string; readonly nowMs: number },
): Decision<CancelAnswer> {
  if (row && hasEnded(row)) {
    if (row.state !== 'FAILED' || isCancelled(row)) return { answer: { kind: 'ended', row } };
    const stays: EndedJobRow = { ...row, cancelled: true };
    return { write: stays, answer: { kind: 'cancelled', row: stays } };
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
  /** Reopens a cancelled job: a person named it. Default: false. */
  readonly isNamed?: boolean;
  /** Reopens a job that the platform executed: a person asked for all such jobs. Default: false. */
  readonly executed?: boolean;
  /**
   * Reopens the job whatever its outcome, for a message that may have other content, since a repeat does no harm.
   * Default: false.
   */
  readonly anyEnd?: boolean;
};

/** `refused`: the job has not failed, was cancelled or executed and not named, or does not exist. */
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
    ...given
  } = known;
  const { contentHash, ...rest } = given;
  const content = options.anyEnd || contentHash === undefined ? {} : { contentHash };
  const earlier = finishedAt === undefined ? {} : { earlierFinishedAt: finishedAt };
  const opened = { state: 'CLAIMED', fence: row.fence + 1, attempts: 0, takeovers: 0 } as const;
  const write: JobRow = { ...rest, ...content, ...earlier, ...opened };
  return { write, answer: { kind: 'reopened', row: write } };
}

export function mayReopen(row: JobRow, options: ReopenOptions): boolean {
  const { isNamed = false, executed = false, anyEnd = false } = options;
  if (anyEnd) return hasEnded(row);
  const isFree = !isCancelled(row) && (executed || !wasExecuted(row.outcome?.error));
  return row.state === 'FAILED' && (isNamed || isFree);
}

type Resolution = { readonly status: 'done' | 'failed'; readonly note: string };

export function decideResolve(
  row: JobRow | undefined,
  { status, note, nowMs }: Resolution & { readonly nowMs: number },
): Decision<
  | { readonly kind: 'resolved'; readonly row: EndedJobRow }
  | { readonly kind: 'refused'; readonly row: JobRow | undefined }
> {
  // The same outcome again, with any note, is accepted, so that a command that died before it stored the result can be
  // repeated.
  if (row !== undefined && isSettled(row) && row.outcome.status === status)
    return { answer: { kind: 'resolved', row } };
  if (row?.state !== 'UNKNOWN' || !hasEnded(row)) return { answer: { kind: 'refused', row } };
  const { error: _, ...known } = row.outcome;
  const said = status === 'done' ? { note } : { error: { kind: 'resolved', message: note } };
  const write = { ...endOf(row, { ...known, status, ...said }, nowMs), earlierFinishedAt: row.finishedAt };
  return { write, answer: { kind: 'resolved', row: write } };
}

/**
 * Whether a row may be pruned: its job is done or failed for good, and its message was seen, so that it has a result.
 */
export const mayPrune = (row: JobRow): row is EndedJobRow & { readonly type: string } =>
  hasEnded(row) && row.state !== 'UNKNOWN' && row.type !== undefined && !isPruned(row) && !runsAgain(row);

/** `result`: the key of the stored result of the end at `finishedAt`. A row with another end stays. */
function decidePrune(
  row: JobRow | undefined,
  { finishedAt, result }: { readonly finishedAt: number; readonly result: string },
): Decision<boolean> {
  if (row === undefined || !mayPrune(row) || row.finishedAt !== finishedAt) return { answer: false };
  const { response: _, staged: __, error, ...ended } = row.outcome;
  const failed = error === undefined ? {} : { error: { kind: error.kind, message: error.message } };
  return { write: { ...row, outcome: { ...ended, ...failed, result } }, answer: true };
}
