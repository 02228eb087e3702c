import type { Lease } from '../../lib/jobs/delivery.ts';
import { renewLease } from '../../lib/jobs/open-worker.ts';

type LeaseParts = Omit<Parameters<typeof renewLease>[0], 'claim' | 'leaseMs'>;

const LEASE_MS = 30_000;

/** The lease of a process without a deadline, as `renewedLease` builds it, over a simulated clock. */
export const leaseOver = (parts: LeaseParts, leaseMs = LEASE_MS): Lease => ({
  deadlineMs: undefined,
  leaseMs,
  writeUntilMs: () => Number.POSITIVE_INFINITY,
  holdLease: (claim) => renewLease({ ...parts, claim, leaseMs }),
});
