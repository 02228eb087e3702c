import type { Store } from '../store/index.ts';
import { findLateOutcome } from './late-outcome.ts';
import type { Claim } from './ledger/job-row.ts';
import type { ClaimAnswer, JobRequest, Ledger, SentAnswer } from './ledger/ledger.ts';
import { sentInTime } from './ledger/transitions.ts';

export type Lease = {
  /** When everything must be done; undefined if `holdLease` keeps the lease alive. */
  readonly deadlineMs: number | undefined;
  readonly leaseMs: number;
  /**
   * Until when it is tried to record what happened to a job, in epoch milliseconds: what came back must not be lost, even
   * if the lease is. It may change: infinity as long as nobody stops the process.
   */
  readonly writeUntilMs: () => number;
  /** Renews the lease while a job runs; the signal is aborted when the lease is lost. */
  readonly holdLease: (claim: Claim) => AsyncDisposable & { readonly signal: AbortSignal };
  /** Aborted when the process is to stop, with a `HandBackError`: what has not left goes back. Absent: it never is. */
  readonly stop?: AbortSignal | undefined;
};

/** A job as one delivery of its message has it. */
export type Held = AsyncDisposable & {
  /** Aborted when the lease is lost. */
  readonly signal: AbortSignal;
  /** The job's row as it was stored last; undefined as long as the job is not claimed. */
  readonly row: () => Claim | undefined;
  /** Claims the job, unless it is claimed. Throws `NotClaimedError`. */
  readonly claim: () => Promise<Claim>;
  /** Records that a request leaves now; a job that is not claimed is claimed by the same write. Throws `NotClaimedError`. */
  readonly sent: (options: { readonly mustLastMs: number }) => Promise<SentAnswer>;
  /**
   * Ends the sends, of calls too that come to their turn only now, and waits for a claim that is under way. Returns one
   * that recorded a send, if no response came: it may have been stored, or be stored yet.
   */
  readonly close: () => Promise<Claim | undefined>;
};

/** The job is somebody else's, has ended, or has other content. */
export class NotClaimedError extends Error {
  override readonly name = 'NotClaimedError';
  readonly answer: Exclude<ClaimAnswer, { readonly kind: 'claimed' }>;

  constructor(id: string, answer: NotClaimedError['answer']) {
    super(`job ${id}: expected to claim it, got ${answer.kind}`);
    this.answer = answer;
  }
}

export type HeldOptions = {
  readonly request: JobRequest;
  readonly mayRepeat: boolean;
  readonly isNew: boolean;
  readonly ledger: Ledger;
  readonly store: Store;
  readonly lease: Pick<Lease, 'leaseMs' | 'holdLease'>;
};

/** A job that is claimed when that is asked for, and whose lease is then held until this is disposed. */
export function createHeld({ request, ledger, store, lease, ...options }: HeldOptions): Held {
  const by = ledger.newName();
  const lost = new AbortController();
  const held = new AsyncDisposableStack();
  let [row, tried]: [Claim?, Claim?] = [];
  let claiming: Promise<Claim> | undefined;
  let isClosed = false;
  // A job is claimed once: one of its calls may fail while the claim for another one is under way.
  const settled = () => claiming?.catch(() => undefined);

  const claim = async (sends: boolean): Promise<Claim> => {
    const answer = await ledger.claim(request, {
      ...options,
      by,
      leaseMs: lease.leaseMs,
      findOutcome: (sent) => findLateOutcome(store, sent),
      ...(sends ? { sends, onTry: (trying: Claim) => (tried = trying) } : {}),
    });
    if (answer.kind !== 'claimed') throw new NotClaimedError(request.id, answer);
    row = answer.claim;
    const { signal } = held.use(lease.holdLease(row));
    signal.addEventListener('abort', () => lost.abort(signal.reason), { once: true });
    return row;
  };

  return {
    signal: lost.signal,
    row: () => row,
    async claim() {
      await settled();
      return row ?? (await claim(false));
    },
    async sent({ mustLastMs }) {
      if (row !== undefined) {
        const answer = await ledger.sent(row, { mustLastMs });
        if (answer.kind === 'sent') row = answer.claim;
        return answer;
      }
      if (isClosed) return { kind: 'lost', row };
      claiming = claim(true);
      return sentInTime(await claiming, { mustLastMs, nowMs: ledger.now() });
    },
    async close() {
      isClosed = true;
      await settled();
      return row === undefined ? tried : undefined;
    },
    [Symbol.asyncDispose]() {
      isClosed = true;
      return held.disposeAsync();
    },
  };
}
