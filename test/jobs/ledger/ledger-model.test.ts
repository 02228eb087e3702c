import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createLedger } from '../../../lib/jobs/ledger/create-ledger.ts';
import type { Claim, JobRow, Outcome } from '../../../lib/jobs/ledger/job-row.ts';
import { fromRow } from '../../../lib/jobs/ledger/job-row.ts';
import type { Ledger } from '../../../lib/jobs/ledger/ledger.ts';
import { neverSent, runsAgain } from '../../../lib/jobs/ledger/transitions.ts';
import type { Table } from '../../../lib/table/table.ts';
import { TableError } from '../../../lib/table/table-error.ts';
import { scaled } from '../../scale.ts';
import { FAST_TABLES } from '../../table/every-table.ts';

const leaseMs = 30_000;
const mustLastMs = 5_000;
const key = { partition: 'job#a', sort: '-' };
const request = { id: 'a', type: 'run-function', contentHash: 'hash', sender: 'me' };
const outcomes = {
  done: { status: 'done' },
  failed: { status: 'failed' },
  unknown: { status: 'unknown' },
} as const satisfies Record<string, Outcome>;

type Act =
  | { readonly kind: 'claim'; readonly mayRepeat: boolean; readonly isNew: boolean }
  | { readonly kind: 'sent' }
  | { readonly kind: 'proved' }
  | { readonly kind: 'renew' }
  | { readonly kind: 'release' }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'end'; readonly as: keyof typeof outcomes }
  | { readonly kind: 'tick'; readonly ms: number };

/** What happens to one request to the table: most pass, some are lost before or after the work. */
type Fate = 'pass' | 'drop' | 'lose';

const acts: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('claim' as const),
      mayRepeat: fc.boolean(),
      isNew: fc.boolean(),
    }),
  },
  { weight: 4, arbitrary: fc.constant({ kind: 'sent' as const }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom('proved', 'renew', 'release', 'cancel') }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('end' as const),
      as: fc.constantFrom('done', 'failed', 'unknown'),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('tick' as const), ms: fc.nat(40_000) }) },
);

const fates: fc.Arbitrary<readonly Fate[]> = fc.array(
  fc.constantFrom('pass', 'pass', 'pass', 'drop', 'lose'),
  {
    maxLength: 60,
  },
);

/** One job, the clock, and what really happened: which requests left, under which fence. */
function createWorld(scheduler: fc.Scheduler, fatesLeft: Fate[], inner: Table) {
  const clock = { nowMs: 1_000_000 };
  const started: { readonly fence: number; isHarmless: boolean }[] = [];
  const fences: number[] = [];
  const staged: Staged = new Map();
  const counts = { started: 0, unsure: 0 };
  const meet = async <T>(work: () => Promise<T>): Promise<T> => {
    await scheduler.schedule(Promise.resolve());
    const fate = fatesLeft.shift() ?? 'pass';
    const lost = () => new TableError('ask in a test', { kind: 'unreachable', code: fate });
    if (fate === 'drop') throw lost();
    const answer = await work();
    if (fate === 'lose') throw lost();
    return answer;
  };
  const readRow = async (): Promise<JobRow | undefined> => {
    const stored = await inner.get(key);
    return stored && fromRow(stored.row);
  };
  const tableOf = (worker: Worker): Table => ({
    ...inner,
    get: (of) => meet(() => inner.get(of)),
    put: (of, row, options) =>
      meet(async () => {
        const before = await readRow();
        const result = await inner.put(of, row, options);
        if (result.kind === 'stored')
          checkChange(before, fromRow(row), { nowMs: clock.nowMs, worker, staged });
        return result;
      }),
  });
  return { clock, started, fences, staged, counts, table: inner, tableOf, readRow };
}

/** What workers know of sends of jobs that others have called unknown, by fence. */
type Staged = Map<number, Outcome>;

type World = ReturnType<typeof createWorld>;
type Worker = { claim: Claim | undefined; mayRepeat: boolean; hasStarted: boolean };

const endStates: readonly (string | undefined)[] = ['DONE', 'FAILED', 'UNKNOWN'];

/** Checks every stored write against the rules. */
function checkChange(
  before: JobRow | undefined,
  after: JobRow,
  { nowMs, worker, staged }: { readonly nowMs: number; readonly worker: Worker; readonly staged: Staged },
): void {
  if (before !== undefined && runsAgain(before) && after.cancelled !== true)
    expect(after).toMatchObject({ state: 'CLAIMED', fence: before.fence + 1, attempts: before.attempts });
  else if (before?.state === 'FAILED') expect(after).toEqual({ ...before, cancelled: true });
  else if (endStates.includes(before?.state)) {
    const found = staged.get(before?.sentFence ?? 0);
    expect([before?.state, after.state]).toEqual(['UNKNOWN', found?.status === 'done' ? 'DONE' : 'FAILED']);
    expect(found).toBeDefined();
  }
  expect(after.fence).toBeGreaterThanOrEqual(before?.fence ?? 0);
  if (before && after.fence > before.fence) expect(before.leaseUntilMs ?? 0).toBeLessThanOrEqual(nowMs);
  if (before?.state === 'CLAIMED' && after.state === 'SENT') expect(worker.claim?.fence).toBe(after.fence);
  expect(after.dt).toBe(before?.dt ?? after.dt);
}

async function takeClaim(
  world: World,
  ledger: Ledger,
  worker: Worker,
  { mayRepeat, isNew }: Extract<Act, { readonly kind: 'claim' }>,
): Promise<void> {
  const answer = await ledger.claim(request, {
    leaseMs,
    mayRepeat,
    isNew,
    findOutcome: async ({ fence }) => world.staged.get(fence),
  });
  if (answer.kind !== 'claimed') return;
  expect(world.fences).not.toContain(answer.claim.fence);
  world.fences.push(answer.claim.fence);
  Object.assign(worker, { claim: answer.claim, mayRepeat, hasStarted: false });
}

async function startSend(world: World, ledger: Ledger, worker: Worker, claim: Claim): Promise<void> {
  const answer = await ledger.sent(claim, { mustLastMs }).catch(() => ({ kind: 'thrown' }) as const);
  if (answer.kind === 'sent') {
    const others = world.started.filter(({ fence, isHarmless }) => fence !== claim.fence && !isHarmless);
    if (!worker.mayRepeat) expect(others).toEqual([]);
    expect(answer.claim.leaseUntilMs - world.clock.nowMs).toBeGreaterThanOrEqual(mustLastMs);
    world.started.push({ fence: claim.fence, isHarmless: false });
    world.counts.started += 1;
    worker.hasStarted = true;
    return;
  }
  if (answer.kind === 'lost') world.counts.unsure += 1;
  if (answer.kind === 'thrown' || answer.kind === 'too-late') await takeBack(world, ledger, claim);
}

/** After a send that threw, nothing was sent; that is reported to the ledger until it responds. */
async function takeBack(world: World, ledger: Ledger, claim: Claim): Promise<void> {
  for (;;) {
    const answer = await ledger.release(claim).catch(() => undefined);
    if (answer?.kind === 'lost') world.counts.unsure += 1;
    if (answer?.kind === 'called-unknown') world.staged.set(claim.fence, neverSent);
    if (answer) return;
  }
}

async function proveHarmless(world: World, ledger: Ledger, worker: Worker, claim: Claim): Promise<void> {
  if (!worker.hasStarted) return;
  for (const send of world.started) if (send.fence === claim.fence) send.isHarmless = true;
  await ledger.release(claim, { hasLeft: true, counts: 'try' });
}

async function perform(world: World, ledger: Ledger, worker: Worker, act: Act): Promise<unknown> {
  if (act.kind === 'tick') {
    world.clock.nowMs += act.ms;
    return;
  }
  if (act.kind === 'claim') return takeClaim(world, ledger, worker, act);
  if (act.kind === 'cancel') return ledger.cancel('a');
  const { claim } = worker;
  if (claim === undefined) return;
  switch (act.kind) {
    case 'sent':
      return worker.hasStarted ? undefined : startSend(world, ledger, worker, claim);
    case 'proved':
      return proveHarmless(world, ledger, worker, claim);
    case 'renew':
      return ledger.renew(claim, leaseMs);
    case 'release':
      return worker.hasStarted ? undefined : takeBack(world, ledger, claim);
    case 'end': {
      const { kind } = await ledger.end(claim, outcomes[act.as]);
      // A worker says one thing of a send.
      if (kind === 'called-unknown' && !world.staged.has(claim.fence))
        world.staged.set(claim.fence, outcomes[act.as]);
      return undefined;
    }
    default:
      return act satisfies never;
  }
}

/** A worker continues after an error of the table; every other error fails the test. */
async function work(world: World, worker: Worker, toDo: readonly Act[]): Promise<void> {
  const ledger = createLedger({ table: world.tableOf(worker), now: () => world.clock.nowMs });
  for (const act of toDo) {
    await perform(world, ledger, worker, act).catch((error: unknown) => {
      if (!(error instanceof TableError)) throw error;
    });
  }
}

/** A try that was called unknown and never left is taken back by the next claim. */
async function claimLast(world: World): Promise<void> {
  world.clock.nowMs += 2 * leaseMs;
  const ledger = createLedger({ table: world.table, now: () => world.clock.nowMs });
  const findOutcome = async ({ fence }: { readonly fence: number }) => world.staged.get(fence);
  await ledger.claim(request, { leaseMs, mayRepeat: false, isNew: false, findOutcome });
}

test.each(FAST_TABLES)(
  'workers that interleave, whose leases expire and whose responses are lost, keep the rules: %s',
  async (_, makeTable) => {
    const toDo = fc.array(fc.array(acts, { minLength: 3, maxLength: 14 }), { minLength: 2, maxLength: 4 });

    await fc.assert(
      fc.asyncProperty(fc.scheduler(), toDo, fates, async (scheduler, actsByWorker, fated) => {
        const world = createWorld(scheduler, [...fated], makeTable());
        const workers = actsByWorker.map((each) =>
          work(world, { claim: undefined, mayRepeat: false, hasStarted: false }, each),
        );
        await scheduler.waitFor(Promise.all(workers));

        await claimLast(world);
        const { started, unsure } = world.counts;
        const attempts = (await world.readRow())?.attempts ?? 0;
        expect(attempts).toBeGreaterThanOrEqual(started);
        expect(attempts).toBeLessThanOrEqual(started + unsure);
      }),
      { numRuns: scaled(200, 2_000) },
    );
  },
);
