import pino, { type Logger } from 'pino';
import type { Worker } from '../../../lib/jobs/handle-message.ts';
import { createLedger } from '../../../lib/jobs/ledger/ledger.ts';
import { readFollowers, startSnapshotRunner } from '../../../lib/jobs/types/snapshot/open-snapshots.ts';
import { createFleetBreaker } from '../../../lib/pace/breaker.ts';
import type { OpenBreaker } from '../../../lib/pace/budget.ts';
import { openFleetPace } from '../../../lib/pace/lazy-pace.ts';
import { createTableClock } from '../../../lib/pace/table-clock.ts';
import { createCall } from '../../../lib/platform/call.ts';
import { operations } from '../../../lib/platform/client.ts';
import { countCalls, notifyAll } from '../../../lib/platform/events.ts';
import { callOutcome, probePlatform } from '../../../lib/platform/outage.ts';
import { defaultRetryLimits, type RetryLimits } from '../../../lib/platform/retry.ts';
import { fixedToken } from '../../../lib/platform/token.ts';
import type { DateSeen } from '../../../lib/table/index.ts';
import { workerOver } from '../../jobs/worker-over.ts';
import type { Scene } from './scene.ts';
import { storeFor } from './shared-store.ts';
import { tableFor } from './shared-table.ts';
import type { Process } from './world.ts';

/** The default of the setting. */
const CONCURRENCY = 8;
const MAX_WAIT_MS = 20_000;
const TIMEOUT_MS = 60_000;

export const HOST = 'acme.example.com';

export type SessionOptions = { readonly reserve?: 'single' | 'batch'; readonly skewMs: number };

/** Assembles the parts of one process as `lib/session.ts` and `lib/jobs/open-worker.ts` do. */
export function openSession(process: Process, scene: Scene, { reserve = 'batch', skewMs }: SessionOptions) {
  const { world, parts } = scene;
  const own = world.diceFor(process);
  const now = () => world.nowOf(process) + skewMs;
  const sleep = (ms: number, signal?: AbortSignal) => world.sleep(process, ms, signal);
  const clock = createTableClock({ now, steady: world.sinceStartMs, sleep });
  // There are two clients: the pace uses only the `Date` headers of its own client.
  const listeners: ((seen: DateSeen) => void)[] = [];
  const sawItem = (seen: DateSeen) => {
    for (const listener of listeners) listener(seen);
  };
  const shared = tableFor(scene.table, process, world, {
    ...{ now, sleep, random: own.fraction, sawItem },
    sawRow: clock.saw,
  });
  const onBreaker = (seen: OpenBreaker | undefined) => breaker.onBudget({ breaker: seen });
  const stored = shared.budget(onBreaker);
  const budget = {
    ...stored,
    ...parts.withBudget?.(stored),
    ...(scene.table.hasDates ? { onDate: (listener: typeof sawItem) => void listeners.push(listener) } : {}),
  };
  const { rate } = world.plan;
  const log = (what: string) => world.log(process.name, what);
  const pace = openFleetPace({
    budget: async () => budget,
    rate,
    concurrency: CONCURRENCY,
    maxWaitMs: MAX_WAIT_MS,
    reserve,
    now,
    steady: world.sinceStartMs,
    sleep,
    onTableUnavailable: (cause) => log(`table unavailable: ${String(cause)}`),
    onTableAvailable: () => log('table available again'),
  });
  const { observe, counts } = countCalls();
  const send = scene.platform.sendFor(process);
  const callWith = (limits: Partial<RetryLimits>) =>
    createCall({
      send: parts.withSend?.(send) ?? send,
      token: fixedToken('token'),
      pace,
      observe: notifyAll([
        observe,
        (event) => event.kind === 'request' && breaker.ended(callOutcome(event.failure), event.durationMs),
      ]),
      limits: { ...defaultRetryLimits, ...limits },
      timeoutMs: TIMEOUT_MS,
      now: world.sinceStartMs,
      sleep,
      random: own.fraction,
    });
  const breaker = createFleetBreaker({
    item: budget,
    probe: () => probePlatform(callWith({})),
    clock: { now, steady: world.sinceStartMs, sleep },
    onOpen: ({ cause }) => log(`the breaker opens: ${cause}`),
    onClosed: () => log('the breaker closes'),
  });
  const store = storeFor(scene.store, process, world);
  const table = { ...shared.table, ...parts.withTable?.(shared.table) };
  // This is the condition of `openTimedTable`.
  const isTimeKnown = () => !scene.table.hasDates || clock.uncertaintyMs() <= 8_000;
  return {
    process,
    clock,
    isTimeKnown,
    hasDates: clock.hasDates,
    now,
    sleep,
    random: own.fraction,
    pace,
    callWith,
    counts,
    breaker,
    store,
    table,
  };
}

export type Session = ReturnType<typeof openSession>;

const silent = pino({ level: 'silent' });

/** A logger whose warnings are written to the timeline. */
const loggerOf = (process: Process, { world }: Scene): Logger =>
  Object.assign(Object.create(silent), {
    warn: (facts: { readonly err?: unknown }, what: string) =>
      world.log(process.name, `${what} ${JSON.stringify({ ...facts, err: String(facts.err ?? '') })}`),
  });

/** The worker of a process. */
export function workerOf(session: Session, scene: Scene): Worker {
  const { process, clock, isTimeKnown, hasDates, sleep, random, breaker, store, table } = session;
  const own = scene.world.diceFor(process);
  const newToken = () => `${process.name}-${own.below(2 ** 32)}-${own.below(2 ** 32)}`;
  const real = createLedger({ table, now: clock.now, isTimeKnown, hasDates, newToken });
  const worker = workerOver({
    owner: process.name,
    table,
    store,
    newToken,
    ledger: { ...real, ...scene.parts.withLedger?.(real) },
    platform: operations(session.callWith({ budgetMs: MAX_WAIT_MS })),
    now: clock.now,
    sleep,
    random,
    reportFinished: async ({ id, status }) => {
      scene.world.log(process.name, `reports ${id} ${status}`);
      scene.reported(id, status);
    },
  });
  const start = scene.executions.startFrom(process);
  const follows = scene.world.plan.datasets > 0;
  const followers = readFollowers(follows ? '[{"version":1,"type":"snapshot","source":"cards"}]' : undefined);
  const snapshot = startSnapshotRunner({ start, stack: 'whole', followers });
  return { ...worker, breaker, runners: { ...worker.runners, snapshot }, logger: loggerOf(process, scene) };
}
