import type { Worker } from '../../../lib/jobs/handle-message.ts';
import { handleOnce } from '../../../lib/jobs/handle-once.ts';
import type { Lease } from '../../../lib/jobs/held.ts';
import { createLedger } from '../../../lib/jobs/ledger/create-ledger.ts';
import { renewLease } from '../../../lib/jobs/ledger/lease-renewal.ts';
import type { Ledger } from '../../../lib/jobs/ledger/ledger.ts';
import type { QueueMessage } from '../../../lib/jobs/queue/queue.ts';
import { runBatch } from '../../../lib/jobs/run-batch.ts';
import type { Table } from '../../../lib/table/table.ts';
import { settledTable } from '../../proofs/exploration/settled-table.ts';
import { workerOver } from '../worker-over.ts';
import { faultyStore, type SmallStore } from './faulty-store.ts';
import { faultyTable } from './faulty-table.ts';
import type { Process } from './process.ts';
import type { SimulatedPlatform } from './simulated-platform.ts';
import type { SimulatedQueue } from './simulated-queue.ts';
import type { Witness } from './witness.ts';
import type { World } from './world.ts';

/** What all workers share. */
export type Scene = {
  readonly world: World;
  readonly table: Table;
  readonly store: SmallStore;
  readonly queue: SimulatedQueue;
  readonly platform: SimulatedPlatform;
  readonly witness: Witness;
  /** Replaces the real ledger: by a broken one, to see that it is detected. */
  readonly settles: boolean;
  readonly withLedger: (ledger: Ledger, table: Table, now: () => number, newToken: () => string) => Ledger;
  /** Called for every job that is reported as finished. */
  readonly reported: (id: string, status: string) => void;
};

const TIMEOUT_MS = 900_000;
const LEASE_MS = 30_000;
const VISIBILITY_MS = 120_000;

/** A name that nothing has had before in this schedule. */
const newToken = (world: World) => `${world.steps()}-${world.dice.below(2 ** 32)}`;

export function ledgerOf(process: Process, { world, table, witness, settles, withLedger }: Scene): Ledger {
  const faulty = faultyTable(table, process, world);
  const sleep = (ms: number) => world.sleep(process, ms);
  const seen = settles ? settledTable(faulty, { sleep }) : faulty;
  const token = () => newToken(world);
  const ledger = createLedger({ table: seen, now: world.now, newToken: token });
  return witness.watch(withLedger(ledger, seen, world.now, token), process);
}

function workerOf(process: Process, scene: Scene): Worker {
  const { world, table } = scene;
  return workerOver({
    owner: process.name,
    ledger: ledgerOf(process, scene),
    table: faultyTable(table, process, world),
    store: faultyStore(scene.store, process, world),
    platform: scene.platform.of(process),
    newToken: () => newToken(world),
    reportFinished: ({ id, status }) =>
      world.act(process, {
        label: `report ${id}`,
        area: 'report',
        perform: () => scene.reported(id, status),
        failure: () => new Error('the report failed'),
      }),
    now: world.now,
    sleep: (ms, signal) => world.sleep(process, ms, signal),
    random: world.dice.fraction,
  });
}

/**
 * A poller that passes batches to invocations, as SQS and Lambda do. Each invocation is a process that is killed at its
 * time limit, and the messages that it does not name as failed are deleted.
 */
export async function pollForInvocations(name: string, scene: Scene): Promise<void> {
  const { world, queue } = scene;
  const poller = world.start(`${name} poller`, false);
  for (let number = 1; ; number += 1) {
    const messages = await queue.receive(poller, 3, TIMEOUT_MS + 30_000);
    const failed = await invoke(world.start(`${name}.${number}`), messages, scene);
    for (const { messageId, receipt } of messages) {
      if (!failed.includes(messageId)) await queue.delete(poller, receipt).catch(() => undefined);
    }
  }
}

async function invoke(
  process: Process,
  messages: readonly QueueMessage[],
  scene: Scene,
): Promise<readonly string[]> {
  const { world } = scene;
  const { now } = world;
  const deadlineMs = now() + TIMEOUT_MS;
  const lease: Lease = {
    deadlineMs,
    leaseMs: TIMEOUT_MS + 2_000,
    writeUntilMs: () => deadlineMs,
    holdLease: () => ({ signal: new AbortController().signal, [Symbol.asyncDispose]: async () => undefined }),
  };
  const died = new Promise<readonly string[]>((resolve) => {
    process.onEnd.push(() => resolve(messages.map(({ messageId }) => messageId)));
  });
  world.later(TIMEOUT_MS, () => world.crash(process, 'at its time limit'));
  const worker = workerOf(process, scene);
  const ran = runBatch(messages, { worker, lease, queue: queueOf(process, scene), concurrency: 2 });
  const failed = await Promise.race([ran, died]);
  // Of what is due at one time, its end may come last.
  if (now() > deadlineMs) world.crash(process, 'at its time limit');
  if (!process.isAlive) return died;
  world.log(process.name, `ends, failed: ${failed.join(' ') || 'none'}`);
  world.end(process);
  return failed;
}

/** The queue as one process reaches it. */
const queueOf = (process: Process, { queue }: Scene) => ({
  delay: (receipt: string, delayMs: number) => queue.delay(process, receipt, delayMs),
  send: (bodies: readonly string[]) => queue.sendFrom(process, bodies),
  delete: (receipt: string) => queue.delete(process, receipt),
});

/** A long-running process that renews its leases and keeps its messages hidden; it is restarted when it dies. */
export function workWithRenewal(name: string, scene: Scene, number = 1): void {
  const { world } = scene;
  const process = world.start(`${name}.${number}`);
  process.onEnd.push(() => world.later(1_000, () => workWithRenewal(name, scene, number + 1)));
  const worker = workerOf(process, scene);
  const { ledger } = worker;
  const lease: Lease = {
    deadlineMs: undefined,
    leaseMs: LEASE_MS,
    writeUntilMs: () => Number.POSITIVE_INFINITY,
    holdLease: (claim) =>
      renewLease({
        ledger,
        claim,
        leaseMs: LEASE_MS,
        now: world.now,
        sleep: (ms, signal) => world.sleep(process, ms, signal),
      }),
  };
  const loop = async () => {
    for (;;) {
      const messages = await scene.queue.receive(process, 2, VISIBILITY_MS);
      await Promise.all(messages.map((message) => handleOne(message, worker, lease, process, scene)));
    }
  };
  void loop();
}

async function handleOne(
  message: QueueMessage,
  worker: Worker,
  lease: Lease,
  process: Process,
  scene: Scene,
): Promise<void> {
  const { world, queue } = scene;
  const { receipt } = message;
  const handled = new AbortController();
  const keepHidden = async () => {
    for (;;) {
      await world.sleep(process, VISIBILITY_MS / 3, handled.signal);
      await queue.delay(process, receipt, VISIBILITY_MS).catch(() => undefined);
    }
  };
  const hiding = keepHidden().catch(() => undefined);
  const stopHiding = async () => {
    handled.abort();
    await hiding;
  };
  const own = queueOf(process, scene);
  const { kind } = await handleOnce(message, { worker, lease, queue: own, stopHiding });
  if (kind === 'done') await own.delete(receipt).catch(() => undefined);
}
