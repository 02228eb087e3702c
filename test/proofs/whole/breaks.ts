import type { Claim } from '../../../lib/jobs/ledger/job-row.ts';
import type { Budget } from '../../../lib/pace/budget.ts';
import { wasSent } from '../../../lib/platform/failure.ts';
import type { Send } from '../../../lib/platform/http/transport.ts';
import { kinds, type Plan } from './plan.ts';
import type { Parts } from './scene.ts';
import type { PlatformFate, Spell } from './spells.ts';

type PlatformRequest = Parameters<Send>[0];

/** A rule to remove, the first seed to try, and the violation that shows that it is missing. */
type Break = {
  readonly parts: () => Parts;
  readonly seed: number;
  /** Changes to the plan without which it would not exercise the rule. Default: no changes. */
  readonly among?: (plan: Plan) => Partial<Plan>;
  readonly shows: RegExp;
  /** The schedule takes long, so only the full run includes it. Default: false. */
  readonly isSlow?: true;
};

/** Longer than any schedule. */
const LONG_MS = 1e10;

export const breaks: Readonly<Record<string, Break>> = {
  'no SENT': {
    parts: () => ({
      withLedger: (ledger) => ({
        sent: async ({ id }) => ({ kind: 'sent', claim: (await ledger.read(id)) as Claim }),
      }),
    }),
    among: (plan) => ({ jobs: functions(plan), crashPercent: 2 }),
    seed: 33,
    shows: /was executed \d+ times/,
  },
  'a retry of a POST that was sent': {
    parts: () => ({
      withSend: (send) => async (request, token, signal) => {
        const result = await send(request, token, signal);
        const isRepeated = result.kind === 'failure' && wasSent(result.failure) && !request.mayRepeat;
        return isRepeated ? send(request, token, signal) : result;
      },
    }),
    among: (plan) => ({ jobs: functions(plan), spells: [spellOf('cut response', 50, plan)] }),
    seed: 29,
    shows: /was executed \d+ times/,
  },
  'no overlap of pages': {
    parts: () => ({
      withSend:
        (send) =>
        (request, ...rest) =>
          send(withoutOverlap(request), ...rest),
    }),
    seed: 29,
    shows: /lacks record \d+/,
  },
  'no floor of the rate': {
    parts: () => ({
      withBudget: (item) => {
        const never = (budget: Budget): Budget => ({
          ...budget,
          capRate: budget.incidents === 0 ? undefined : 0.7 ** (budget.incidents + 1) * (budget.rate ?? 1),
        });
        return {
          read: async () => never(await item.read()),
          async change(act, next) {
            const changed = await item.change(act, (budget) => next(never(budget)));
            return changed && never(changed);
          },
        };
      },
    }),
    among: (plan) => ({ spells: [spellOf('429', 50, plan)] }),
    seed: 29,
    isSlow: true,
    shows: /did not end|% of the rate was used/,
  },
  'a breaker that never closes': {
    parts: () => ({
      withBudget: ({ change }) => ({
        change: async (act, next) => (act.startsWith('close') ? undefined : change(act, next)),
      }),
    }),
    among: (plan) => ({ jobs: plan.jobs.slice(0, 10), spells: [spellOf('connection refused', 100, plan)] }),
    seed: 29,
    isSlow: true,
    shows: /did not end|still on the queue/,
  },
  'a lease that never ends and is not released': {
    parts: () => ({
      withLedger: (ledger) => ({
        claim: (request, options) => ledger.claim(request, { ...options, leaseMs: LONG_MS }),
        release: async ({ id }) => ({ kind: 'released', row: (await ledger.read(id)) as Claim }),
      }),
    }),
    seed: 29,
    shows: /did not end/,
  },
  'a claim of a text that nobody sees': {
    parts: () => ({
      withTable: ({ put }) => ({
        put: async (key, row, options) =>
          row['state'] === 'SENT' && key.partition.startsWith('score#')
            ? { kind: 'stored' }
            : put(key, row, options),
      }),
    }),
    among: kinds.batches,
    seed: 29,
    shows: /was scored \d+ times/,
  },
  'a limit of calls that nobody counts': {
    parts: () => ({
      withTable: ({ put }) => ({
        put: async (key, row, options) =>
          key.sort === '_calls' && options.expected !== null ? { kind: 'stored' } : put(key, row, options),
      }),
    }),
    among(plan) {
      const { batches, ...rest } = kinds.batches(plan);
      const limited = batches.map((batch) => ({ ...batch, maxCalls: new Set(batch.texts).size }));
      return {
        ...rest,
        jobs: [],
        batches: limited,
        spells: [{ ...spellOf('cut response', 50, plan), fromMs: 0 }],
      };
    },
    seed: 29,
    shows: /made \d+ calls/,
  },
  'a message deleted before its result': {
    parts: () => ({
      withQueue: (queue) => ({
        async receive(options) {
          const messages = await queue.receive(options);
          for (const { receipt } of messages) await queue.delete(receipt).catch(() => undefined);
          return messages;
        },
      }),
    }),
    seed: 29,
    shows: /did not end/,
  },
};

/** The plan's jobs, turned into code functions that may not be repeated. */
const functions = ({ jobs }: Plan): Plan['jobs'] =>
  jobs.map(({ atMs }) => ({
    atMs,
    job: { type: 'run-function', end: 'SUCCESS', mayRepeat: false, isNamed: true },
  }));

/** A minute, just before everything becomes calm, in which calls to the platform have this fate. */
const spellOf = (fate: PlatformFate, percent: number, { calmFromMs }: Plan): Spell => ({
  border: 'platform',
  fate,
  retryAfterMs: 1_000,
  percent,
  fromMs: calmFromMs - 60_000,
  toMs: calmFromMs,
});

/** The last row of each page, by offset, for a client that pretends to have read it twice. */
const rowsAt = new Map<number, unknown>();

/** A request for the page after the last one, which pretends that a row overlaps although it was not read again. */
function withoutOverlap(request: PlatformRequest): PlatformRequest {
  const { offset = 0, sort, limit, ...body } = JSON.parse(request.body ?? '{}');
  if (sort?.ascending !== true || limit === 1) return request;
  const before = offset === 0 ? undefined : rowsAt.get(offset);
  const asked = before === undefined ? offset : offset + 1;
  return {
    ...request,
    body: JSON.stringify({ ...body, sort, limit, offset: asked }),
    read: (bytes) => {
      const page = JSON.parse(String(bytes));
      for (const [index, row] of page.results.entries()) rowsAt.set(asked + index, row);
      const results = before === undefined ? page.results : [before, ...page.results];
      return request.read(Buffer.from(new TextEncoder().encode(JSON.stringify({ ...page, results })).buffer));
    },
  };
}
