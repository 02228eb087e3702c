import { createLedger } from '../../../lib/jobs/ledger/create-ledger.ts';
import type { Claim } from '../../../lib/jobs/ledger/job-row.ts';
import type { Plan } from './plan.ts';
import type { Parts } from './simulate.ts';

/** Far enough off for any lease. */
const LONG_MS = 1e10;

/** A rule taken away, and the violation by which the simulation must find that out. */
type BrokenPart = {
  readonly parts: Parts;
  readonly breaks: RegExp;
  /** What all plans have in common, where few of them would come across the rule. Default: nothing. */
  readonly among?: Partial<Plan>;
};

export const brokenParts: Readonly<Record<string, BrokenPart>> = {
  'a send that is not written down before the request leaves': {
    parts: {
      withLedger: (ledger) => ({
        ...ledger,
        sent: async ({ id }) => ({ kind: 'sent', claim: (await ledger.read(id)) as Claim }),
      }),
    },
    breaks: /was executed \d+ times/,
  },
  'a table whose writes do not look at the write before': {
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
  'a claim that takes a live lease over': {
    parts: {
      withLedger: (ledger, table, now) => ({
        ...ledger,
        claim: createLedger({ table, now: () => now() + LONG_MS }).claim,
      }),
    },
    breaks: /while its lease lasted/,
  },
  'a send that does not look at its lease': {
    parts: {
      withLedger: (ledger, table, now) => ({
        ...ledger,
        sent: createLedger({ table, now: () => now() - LONG_MS }).sent,
      }),
    },
    breaks: /the lease does not last as long/,
  },
  'a store whose writes are without condition': {
    parts: { withStore: (store) => ({ ...store, put: (key, body) => store.put(key, body) }) },
    breaks: /was done, and then/,
    among: { workers: ['renewed', 'renewed', 'renewed'], troubles: ['pause', 'store'], troublePercent: 20 },
  },
};
