import { sleep as sleepInTime } from '../../base/index.ts';
import type { Claim } from './job-row.ts';
import type { Ledger } from './ledger.ts';

export type LeaseRenewalOptions = {
  readonly ledger: Pick<Ledger, 'renew'>;
  readonly claim: Claim;
  readonly leaseMs: number;
  /** The ledger's clock, in epoch milliseconds. Default: `Date.now`. */
  readonly now?: () => number;
  /** Rejects when the signal is aborted. Default: a timer. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
};

export type LeaseRenewal = AsyncDisposable & {
  /** Aborted with a `LeaseLostError` as soon as the lease is lost, or expires without being renewed. */
  readonly signal: AbortSignal;
  /** Stops renewing, and waits for the renewal in progress to finish. */
  stop(): Promise<void>;
};

/** The lease of a job was lost while work continued; the outcome of that work is no longer recorded. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';

  constructor(id: string, got: string, options?: { readonly cause: unknown }) {
    super(`renew the lease of job ${id}: ${got}`, options);
  }
}

/**
 * Renews a lease after each third of its length, for work without a deadline: `await using renewal = renewLease(…)`.
 * A renewal that fails is tried again after the next third, until the lease has expired.
 */
export function renewLease({
  ledger,
  claim,
  leaseMs,
  now = Date.now,
  sleep = sleepInTime,
}: LeaseRenewalOptions): LeaseRenewal {
  const lost = new AbortController();
  const stopped = new AbortController();
  const wait = (ms: number) => sleep(Math.max(0, ms), stopped.signal).catch(() => undefined);
  let leaseUntilMs = claim.leaseUntilMs;
  let underWay: Promise<void> = Promise.resolve();
  let cause: unknown;

  const lose = (got: string): void => {
    if (!stopped.signal.aborted) lost.abort(new LeaseLostError(claim.id, got, { cause }));
    stopped.abort();
  };

  const renewOnce = async (): Promise<void> => {
    try {
      const answer = await ledger.renew(claim, leaseMs);
      if (answer.kind === 'lost') lose(`somebody else has it, ${answer.row?.state ?? 'no row'}`);
      else leaseUntilMs = answer.claim.leaseUntilMs;
    } catch (error) {
      cause = error;
    }
  };

  // A renewal that hangs must not hide that the lease expires.
  const renewUntilStopped = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      await wait(Math.min(leaseMs / 3, leaseUntilMs - now()));
      if (stopped.signal.aborted) return;
      if (now() >= leaseUntilMs) return lose('it expired');
      underWay = renewOnce();
      await Promise.race([underWay, wait(leaseUntilMs - now())]);
    }
  };

  const renewing = renewUntilStopped();
  const stop = async (): Promise<void> => {
    stopped.abort();
    await Promise.all([renewing, underWay]);
  };
  return { signal: lost.signal, stop, [Symbol.asyncDispose]: stop };
}
