import { AwsError } from '../../../lib/base/aws/fault.ts';
import type { Queue, QueueMessage } from '../../../lib/jobs/queue/queue.ts';
import type { Act, Process, World } from './world.ts';

type Queued = {
  readonly messageId: string;
  readonly body: string;
  readonly sentAtMs: number;
  receives: number;
  visibleAtMs: number;
};

/** SQS moves a message to the dead-letter queue after this number of receives. */
const MAX_RECEIVES = 1_000;
const TIMEOUT_MS = 6_000;
const SENDER = 'AIDAEXAMPLE';

/** A queue with its dead-letter queue. It delivers at least once, and hides delivered messages for the visibility timeout. */
export function createSharedQueue(world: World) {
  let queued: Queued[] = [];
  const dead: Queued[] = [];
  let sent = 0;
  let arrived = Promise.withResolvers<void>();

  const notify = () => {
    arrived.resolve();
    arrived = Promise.withResolvers<void>();
  };
  const send = (body: string, delayMs = 0): string => {
    sent += 1;
    queued.push({
      messageId: `m-${sent}`,
      body,
      // A queue in a file uses the clock of its machine, like its table.
      sentAtMs: world.plan.table === 'SQLite' ? world.machineNow() : world.now(),
      receives: 0,
      visibleAtMs: world.now() + delayMs,
    });
    notify();
    return `m-${sent}`;
  };
  const find = (receipt: string) => queued.find(({ messageId }) => receipt.startsWith(`${messageId}/`));
  const visible = () => queued.filter(({ visibleAtMs }) => visibleAtMs <= world.now());

  /** Receives messages. Sometimes a message stays visible to others, as SQS allows. */
  const take = (most: number, visibilityMs: number): readonly QueueMessage[] =>
    visible()
      .slice(0, most)
      .flatMap((message): QueueMessage[] => {
        message.receives += 1;
        if (message.receives > MAX_RECEIVES) {
          queued = queued.filter((each) => each !== message);
          dead.push(message);
          return [];
        }
        const isSeenTwice = !world.isCalm() && world.dice.percent(world.plan.noisePercent);
        if (!isSeenTwice) message.visibleAtMs = world.now() + visibilityMs;
        const { messageId, body, sentAtMs, receives } = message;
        return [{ messageId, body, sender: SENDER, sentAtMs, receives, receipt: `${messageId}/${receives}` }];
      });

  /** The queue as one process reaches it. A long poll receives again until a message arrives. */
  const queueFor = (process: Process): Queue => {
    const act = <T>(label: string, perform: Act<T>['perform']): Promise<T> =>
      world.act(process, {
        label,
        border: 'queue',
        timeoutMs: TIMEOUT_MS,
        perform,
        failure: failureOf(label),
      });
    return {
      send: (bodies, { delayMs = 0 } = {}) =>
        act(`send ${bodies.length}`, () => {
          for (const body of bodies) send(body, delayMs);
        }),
      async receive({ max, waitSeconds, visibilitySeconds }) {
        const waitMs = waitSeconds === 0 ? 0 : 1_000 * Math.max(waitSeconds, world.plan.pollSeconds);
        const untilMs = world.now() + waitMs;
        for (;;) {
          const wakeMs = Math.min(untilMs, ...queued.map(({ visibleAtMs }) => visibleAtMs)) - world.now();
          if (visible().length > 0 || wakeMs <= 0 || waitSeconds === 0)
            return await act('receive', () => take(max, visibilitySeconds * 1_000));
          await world.clock.sleepAtMost(wakeMs, arrived.promise);
          await world.awake(process);
        }
      },
      delete: (receipt) =>
        act(`delete ${receipt}`, () => {
          const gone = find(receipt);
          queued = queued.filter((message) => message !== gone);
        }),
      delay: (receipt, delayMs) =>
        act(`delay ${receipt} by ${Math.round(delayMs)}`, () => {
          const message = find(receipt);
          if (message === undefined || receipt !== `${message.messageId}/${message.receives}`) return;
          message.visibleAtMs = world.now() + Math.ceil(delayMs / 1_000) * 1_000;
          notify();
        }),
      counts: async () => ({
        waiting: visible().length,
        inFlight: 0,
        delayed: queued.length - visible().length,
      }),
    };
  };

  return {
    send,
    queueFor,
    dead: (): readonly QueueMessage[] =>
      dead.map((each) => ({ ...each, sender: SENDER, receipt: each.messageId })),
    waiting: () => visible().length,
    all: (): readonly Pick<Queued, 'messageId' | 'body' | 'visibleAtMs'>[] => queued,
  };
}

export type SharedQueue = ReturnType<typeof createSharedQueue>;

const failureOf = (label: string) => (kind: 'unreachable' | 'busy') =>
  new AwsError(
    'queue',
    label,
    kind === 'busy'
      ? Object.assign(new Error('busy'), { name: 'ThrottlingException', $metadata: { httpStatusCode: 400 } })
      : Object.assign(new Error('no response'), { name: 'TimeoutError', code: 'ECONNRESET' }),
  );
