import { createLedger } from '../../../lib/jobs/ledger/create-ledger.ts';
import type { Claim } from '../../../lib/jobs/ledger/job-row.ts';
import type { Plan } from './plan.ts';
import type { Parts } from './simulate.ts';

/** Longer than any lease. */
const LONG_MS = 1e10;

/** A rule taken away, and the violation by which the simulation must detect that. */
type BrokenPart = {
  readonly parts: Parts;
  readonly breaks: RegExp;
  /** What all plans have in common, if few of them would otherwise meet the rule. Default: nothing. */
  readonly among?: Partial<Plan>;
};

export const brokenParts: Readonly<Record<string, BrokenPart>> = {
  'a send that is not recorded before the request leaves': {
    parts: {
      withLedger: (ledger) => ({
        ...ledger,
        claim: (request, { sends: _, ...options }) => ledger.claim(request, options),
        sent: async ({ id }) => ({ kind: 'sent', claim: (await ledger.read(id)) as Claim }),
      }),
    },
    breaks: /was executed \d+ times/,
  },
  'a table whose writes ignore the write before': {
    parts: {
      withTable: (table) => ({
        ...table,
        async put(key, row, options) {
          const there = await table.get(key);
          return table.put(key, row, { ...options, expected: there?.token ?? null });
        },
      }),
    },
    breaks: /was executed \d+ times/,
  },
  'a claim that takes over a live lease': {
    parts: {
      withLedger: (ledger, table, now, newToken) => ({
        ...ledger,
        claim: createLedger({ table, now: () => now() + LONG_MS, newToken }).claim,
      }),
    },
    breaks: /while its lease lasted/,
  },
  'a send that ignores its lease': {
    parts: {
      withLedger: (ledger, table, now, newToken) => ({
        ...ledger,
        sent: createLedger({ table, now: () => now() - LONG_MS, newToken }).sent,
        async claim(request, options) {
          const answer = await ledger.claim(request, options);
          if (answer.kind !== 'claimed' || !options.sends) return answer;
          return { ...answer, claim: { ...answer.claim, leaseUntilMs: now() + LONG_MS } };
        },
      }),
    },
    breaks: /the lease does not last as long/,
  },
  'a proof that nothing left that is not recorded': {
    parts: {
      withLedger: (ledger) => ({
        ...ledger,
        async release(holder, options) {
          const row = await ledger.read(holder.id);
          const isSent = row?.state === 'SENT' || row?.state === 'UNKNOWN';
          return isSent ? { kind: 'lost', row } : ledger.release(holder, options);
        },
      }),
    },
    breaks: /the worker that knows it lived/,
  },
  'a store whose writes ignore their conditions': {
    parts: { withStore: (store) => ({ ...store, put: (key, body) => store.put(key, body) }) },
    breaks: /was done, and then/,
    among: { workers: ['renewed', 'renewed', 'renewed'], troubles: ['pause', 'store'], troublePercent: 20 },
  },
};
