import { setImmediate as turn } from 'node:timers/promises';
import type { Queue, QueueMessage } from '../../lib/jobs/queue/queue.ts';
import { createDice } from '../proofs/dice.ts';

/** Percentage of short polls that return nothing although messages are visible. */
const MISSED = 60;
const COUNTS_LAG_MS = 15_000;
/** More polls than any passing test needs. */
const MAX_POLLS = 2_000;

type Clock = { nowMs: number };
type ForgetfulOptions = {
  readonly seed: number;
  readonly bodies: readonly string[];
  /** The clock stands still until every received message is deleted or delayed. */
  readonly isHandled?: boolean;
};
type Queued = QueueMessage & { readonly visibleAtMs: number };

/**
 * A queue with no stronger guarantees than SQS documents: short polls miss messages, and counts lag (at first they are
 * those of an empty queue). Long polls see everything, and move the clock while they wait.
 */
export function forgetfulQueue(
  clock: Clock,
  { seed, bodies, isHandled = false }: ForgetfulOptions,
): Queue & { readonly bodies: () => readonly string[]; readonly sleep: (ms: number) => Promise<void> } {
  const dice = createDice(seed);
  let polls = 0;
  let queued: readonly Queued[] = [];
  const past: { readonly atMs: number; readonly queued: readonly Queued[] }[] = [];
  const change = (next: readonly Queued[]) => {
    queued = next;
    past.push({ atMs: clock.nowMs, queued });
  };
  const send = async (more: readonly string[]) => {
    const made = more.map((body, index) => newMessage(body, queued.length + index, clock));
    change([...queued, ...made]);
  };
  /** Receipts of messages that were neither deleted nor delayed so far. */
  const pending = new Set<string>();
  const pass = async (ms: number) => {
    while (isHandled && pending.size > 0) await turn();
    clock.nowMs += ms;
  };
  void send(bodies);
  return {
    send,
    bodies: () => queued.map(({ body }) => body),
    sleep: pass,
    async receive({ max, waitSeconds, visibilitySeconds }) {
      await turn();
      polls += 1;
      if (polls > MAX_POLLS) throw new Error('polled without end');
      if (waitSeconds === 0 && dice.percent(MISSED)) return [];
      const visible = () => queued.filter(({ visibleAtMs }) => visibleAtMs <= clock.nowMs).slice(0, max);
      for (let waited = 0; waited < waitSeconds && visible().length === 0; waited += 1) await pass(1_000);
      const received = visible();
      const visibleAtMs = clock.nowMs + visibilitySeconds * 1_000;
      change(queued.map((one) => (received.includes(one) ? { ...one, visibleAtMs } : one)));
      for (const { receipt } of received) pending.add(receipt);
      return received;
    },
    async delete(receipt) {
      pending.delete(receipt);
      change(queued.filter((one) => one.receipt !== receipt));
    },
    async delay(receipt, delayMs) {
      pending.delete(receipt);
      const visibleAtMs = clock.nowMs + delayMs;
      change(queued.map((one) => (one.receipt === receipt ? { ...one, visibleAtMs } : one)));
    },
    async counts() {
      const atMs = clock.nowMs - COUNTS_LAG_MS;
      const then = past.findLast((one) => one.atMs <= atMs)?.queued ?? [];
      return countsOf(then, atMs);
    },
  };
}

const newMessage = (body: string, index: number, { nowMs }: Clock): Queued => ({
  messageId: `m-${index}`,
  body,
  sender: 'AIDAEXAMPLE',
  receives: 1,
  receipt: `r-${index}`,
  visibleAtMs: nowMs,
});

function countsOf(queued: readonly Queued[], atMs: number): Awaited<ReturnType<Queue['counts']>> {
  const waiting = queued.filter(({ visibleAtMs }) => visibleAtMs <= atMs).length;
  return { waiting, inFlight: queued.length - waiting, delayed: 0 };
}
