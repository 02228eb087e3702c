import { invocationLease } from '../../../lib/jobs/open-worker.ts';
import { LONG_POLLS, type Queue } from '../../../lib/jobs/queue/queue.ts';
import { runBatch, work } from '../../../lib/jobs/work.ts';
import { leaseOver } from '../../jobs/lease-over.ts';
import type { Scene } from './scene.ts';
import { openSession, workerOf } from './session.ts';
import type { Process } from './world.ts';

/** The time limit of the deployed function, and the visibility timeout of its messages. */
const LIMIT_MS = 900_000;
const HIDDEN_SECONDS = LIMIT_MS / 1_000 + 30;
const CONCURRENCY = 8;

/** How long a poller waits after a receive has failed. */
const AFTER_FAILURE_MS = 1_000;

function queueOf(process: Process, { queue, parts }: Scene): Queue {
  const real = queue.queueFor(process);
  return { ...real, ...parts.withQueue?.(real) };
}

/**
 * A poller that passes batches of messages to invocations, as Lambda does. A process serves one invocation after
 * another until it dies or an invocation reaches the time limit; then a new process starts.
 */
export async function pollForInvocations(name: string, scene: Scene, skewMs: number): Promise<void> {
  const { world } = scene;
  const poller = world.start(`${name} poller`, false);
  const polled = queueOf(poller, scene);
  for (let number = 1; ; number += 1) {
    const process = world.start(`${name}.${number}`);
    const worker = workerOf(openSession(process, scene, { skewMs }), scene);
    const died = new Promise<readonly string[]>((resolve) => {
      process.onEnd.push(() => resolve([]));
    });
    while (process.isAlive) {
      const messages = await polled
        .receive({ max: 10, waitSeconds: 20, visibilitySeconds: HIDDEN_SECONDS })
        .catch(async () => {
          await world.clock.sleep(AFTER_FAILURE_MS);
          return [];
        });
      if (messages.length === 0) continue;
      const overMs = world.sinceStartMs() + LIMIT_MS;
      const limit = new AbortController();
      void world.clock
        .sleep(LIMIT_MS, limit.signal)
        .then(() => world.sinceStartMs() >= overMs && world.end(process, 'reaches its time limit'))
        .catch(() => undefined);
      const { now } = worker.ledger;
      const lease = invocationLease(LIMIT_MS, { now, steady: world.sinceStartMs });
      const queueHere = queueOf(process, scene);
      const ran = runBatch(messages, { worker, lease, queue: queueHere, concurrency: CONCURRENCY });
      const failed = await Promise.race([ran, died.then(() => messages.map(({ messageId }) => messageId))]);
      limit.abort('in time');
      for (const { messageId, receipt } of messages)
        if (!failed.includes(messageId)) await polled.delete(receipt).catch(() => undefined);
    }
  }
}

const RESTART_MS = 2_000;

/** Runs `work` in a separate process, which is restarted when it dies. */
export function workForever(name: string, scene: Scene, skewMs: number, number = 1): void {
  const { world } = scene;
  const process = world.start(`${name}.${number}`);
  process.onEnd.push(
    () => void world.clock.sleep(RESTART_MS).then(() => workForever(name, scene, skewMs, number + 1)),
  );
  const session = openSession(process, scene, { skewMs });
  const worker = workerOf(session, scene);
  const { ledger } = worker;
  const { sleep } = session;
  void work({
    worker,
    queue: queueOf(process, scene),
    lease: leaseOver({ ledger, now: ledger.now, steady: scene.world.sinceStartMs, sleep }),
    concurrency: CONCURRENCY,
    visibilitySeconds: 60,
    drain: false,
    signal: new AbortController().signal,
    polls: LONG_POLLS,
    sleep,
    waitToExtend: sleep,
  }).catch((error: unknown) => world.end(process, `ends: ${String(error)}`));
}
