import type { JobRow } from '../../../lib/jobs/ledger/job-row.ts';
import type { Ledger } from '../../../lib/jobs/ledger/ledger.ts';
import type { Process } from './process.ts';
import type { World } from './world.ts';

/** An end that the ledger accepted. */
type WrittenEnd = { readonly id: string; readonly fence: number; readonly response: string };

/** An end that a process tried to write. `troubles`: those of the process until then. */
type TriedEnd = { readonly id: string; readonly process: Process; readonly troubles: number };

/**
 * Watches what ledgers return: a holder whose lease lasts must not lose its job to another, and no send may start that
 * could outlast its lease. Violations are reported to `broken`.
 */
export function createWitness(world: World, broken: (what: string) => void) {
  const leases = new Map<string, number>();
  const holders = new Map<string, { readonly process: Process; readonly sinceMs: number }>();
  const cancelled = new Set<string>();
  const reopened = new Set<string>();
  const isMeddledWith = ({ id }: { readonly id: string }) => cancelled.has(id) || reopened.has(id);
  /** Responses that workers have tried to record, accepted or not. */
  const offered = new Set<string>();
  const ends: WrittenEnd[] = [];
  const tries: TriedEnd[] = [];
  const nameOf = ({ id, fence }: { readonly id: string; readonly fence: number }) =>
    `${id} of fence ${fence}`;

  const watch = (ledger: Ledger, process: Process): Ledger => {
    const lose = (holder: { readonly id: string; readonly fence: number }) => {
      const untilMs = leases.get(nameOf(holder));
      if (untilMs !== undefined && world.now() < untilMs && !isMeddledWith(holder))
        broken(`${nameOf(holder)} was lost while its lease lasted`);
    };
    return {
      ...ledger,
      async claim(request, options) {
        const answer = await ledger.claim(request, options);
        if (answer.kind !== 'claimed') return answer;
        leases.set(nameOf(answer.claim), answer.claim.leaseUntilMs);
        holders.set(nameOf(answer.claim), { process, sinceMs: world.now() });
        return answer;
      },
      async sent(holder, options) {
        const answer = await ledger.sent(holder, options);
        if (answer.kind === 'lost') lose(holder);
        if (answer.kind === 'sent' && answer.claim.leaseUntilMs < world.now() + options.mustLastMs)
          broken(`${nameOf(holder)} may send, and the lease does not last as long`);
        return answer;
      },
      async renew(holder, leaseMs) {
        const answer = await ledger.renew(holder, leaseMs);
        if (answer.kind === 'lost') lose(holder);
        else if (leases.has(nameOf(holder))) leases.set(nameOf(holder), answer.claim.leaseUntilMs);
        return answer;
      },
      async release(holder, options) {
        leases.delete(nameOf(holder));
        return ledger.release(holder, options);
      },
      async end(holder, outcome) {
        const response = String(outcome.response);
        offered.add(response);
        tries.push({ id: holder.id, process, troubles: process.troubles });
        const untilMs = leases.get(nameOf(holder));
        leases.delete(nameOf(holder));
        const answer = await ledger.end(holder, outcome);
        if (answer.kind === 'ended') ends.push({ ...holder, response });
        else if (untilMs !== undefined && world.now() < untilMs && !isMeddledWith(holder))
          broken(`${nameOf(holder)} could not end while its lease lasted`);
        return answer;
      },
      // What a person reopens had ended, although its worker may not have heard of that.
      async reopen(id, options) {
        reopened.add(id);
        return ledger.reopen(id, options);
      },
      async cancel(id, options) {
        cancelled.add(id);
        return ledger.cancel(id, options);
      },
    };
  };
  const holderOf = ({ id, sentFence: fence = 0 }: JobRow) => holders.get(nameOf({ id, fence }));
  return { watch, ends, tries, offered, cancelled, holderOf };
}

export type Witness = ReturnType<typeof createWitness>;
