import type { QueueMessage } from '../../../lib/jobs/queue/queue.ts';
import type { Process } from './process.ts';
import type { World } from './world.ts';

type Queued = {
  readonly messageId: string;
  readonly body: string;
  receives: number;
  visibleAtMs: number;
};

/** A queue that delivers at least once: it redelivers what is not deleted, and at times what is still being handled. */
export function createSimulatedQueue(world: World) {
  let queued: Queued[] = [];
  let sent = 0;

  const find = (receipt: string) => queued.find(({ messageId }) => receipt.startsWith(`${messageId}/`));
  const act = <T>(process: Process, label: string, perform: () => T) =>
    world.act(process, { label, area: 'queue', perform, failure: () => new Error(`${label}: no response`) });

  return {
    /** Puts a message on the queue, and returns its id. */
    send(body: string, delayMs = 0): string {
      sent += 1;
      queued.push({ messageId: `m-${sent}`, body, receives: 0, visibleAtMs: world.now() + delayMs });
      return `m-${sent}`;
    },
    /** Puts messages on the queue from within a process, which may die or get no response. */
    sendFrom: (process: Process, bodies: readonly string[]) =>
      act(process, `send ${bodies.length}`, () => {
        for (const body of bodies) {
          sent += 1;
          queued.push({ messageId: `m-${sent}`, body, receives: 0, visibleAtMs: world.now() });
        }
      }),
    isEmpty: () => queued.length === 0,
    /** Messages for a process, at least one: it waits until there is one. */
    receive: (process: Process, most: number, visibilityMs: number): Promise<readonly QueueMessage[]> =>
      world.act(process, {
        label: 'receive',
        area: 'queue',
        readyAtMs: () =>
          queued.reduce((least, { visibleAtMs }) => Math.min(least, visibleAtMs), Number.POSITIVE_INFINITY),
        perform: () => {
          const visible = queued.filter(({ visibleAtMs }) => visibleAtMs <= world.now()).slice(0, most);
          return visible.map((message): QueueMessage => {
            const { messageId, body } = message;
            message.receives += 1;
            // At least once: some deliveries leave the message visible.
            if (!world.meets('queue')) message.visibleAtMs = world.now() + visibilityMs;
            const receipt = `${messageId}/${message.receives}`;
            return { messageId, body, sender: 'AIDAEXAMPLE', receives: message.receives, receipt };
          });
        },
      }),
    /** Also accepts an old receipt, as SQS usually does. */
    delete: (process: Process, receipt: string) =>
      act(process, `delete ${receipt}`, () => {
        const gone = find(receipt);
        queued = queued.filter((message) => message !== gone);
      }),
    /** An old receipt delays nothing. */
    delay: (process: Process, receipt: string, delayMs: number) =>
      act(process, `delay ${receipt} ${delayMs}`, () => {
        const message = find(receipt);
        if (message && receipt === `${message.messageId}/${message.receives}`)
          message.visibleAtMs = world.now() + delayMs;
      }),
  };
}

export type SimulatedQueue = ReturnType<typeof createSimulatedQueue>;
