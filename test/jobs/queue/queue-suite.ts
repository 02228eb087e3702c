import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { MAX_MESSAGE_BYTES, type Queue, type QueueMessage } from '../../../lib/jobs/queue/queue.ts';
import { moveDeadLetters } from '../../../lib/jobs/redrive.ts';
import { work } from '../../../lib/jobs/work.ts';
import { fakeWorker, invocationLease, runFunctionJob } from '../fake-worker.ts';

export type QueuesUnderTest = {
  /** Messages move to `dead` after the second receive. */
  readonly jobs: Queue;
  readonly dead: Queue;
  /** A queue that does not exist; undefined where the first message creates a queue. */
  readonly missing?: Queue;
} & AsyncDisposable;

/** What a queue must do on each service that calls itself SQS. `open` creates empty queues. */
export function describeQueue(name: string, open: () => Promise<QueuesUnderTest>): void {
  // These tests mostly wait.
  describe.concurrent(name, () => {
    describeMessages(open);
    describeHiding(open);
    describeDeadLetters(open);
    describeWork(open);
  });
}

function describeWork(open: () => Promise<QueuesUnderTest>): void {
  test('a function that was queued behind 30 jobs of texts, more than run concurrently, starts within 10 s', async () => {
    await using queues = await open();
    const stop = new AbortController();
    const textsEnd = new Promise((end) => stop.signal.addEventListener('abort', end));
    const score = async () => ({ status: 'done', response: String(await textsEnd) }) as const;
    const runFunction = async () => {
      stop.abort();
      return { status: 'done', response: '1' } as const;
    };
    const fake = fakeWorker({ score, 'run-function': runFunction });
    const texts = Array.from({ length: 30 }, (_, at) => ({
      ...{ version: 1, type: 'score', id: `texts-${at}` },
      texts: [{ id: 'a', text: 'fine' }],
    }));
    await queues.jobs.send([...texts, runFunctionJob].map((job) => JSON.stringify(job)));
    const sentMs = performance.now();

    await work({
      ...{ queue: queues.jobs, concurrency: 4, visibilitySeconds: 60, drain: false, sleep: delayOr },
      ...{ worker: fake.worker, lease: invocationLease(fake), signal: stop.signal },
    });

    expect(performance.now() - sentMs).toBeLessThan(10_000);
    expect(fake.finished.map(({ type }) => type)).toContain('run-function');
  }, 30_000);
}

const delayOr = (ms: number, signal?: AbortSignal) =>
  delay(ms, undefined, signal === undefined ? {} : { signal });

const receive = (queue: Queue, visibilitySeconds = 60, waitSeconds = 0) =>
  queue.receive({ max: 10, waitSeconds, visibilitySeconds });

/** Receives this number of messages and hides them for a minute; fewer if no more arrive within a few seconds. */
async function receiveSome(queue: Queue, count: number): Promise<readonly QueueMessage[]> {
  const messages: QueueMessage[] = [];
  while (messages.length < count) {
    const received = await receive(queue, 60, 3);
    if (received.length === 0) break;
    messages.push(...received);
  }
  return messages;
}

/** Repeats a check until it passes, since counts are approximate and a message may stay hidden a little longer. */
const eventually = <T>(look: () => Promise<T>) => vi.waitFor(look, { interval: 100, timeout: 10_000 });

function describeMessages(open: () => Promise<QueuesUnderTest>): void {
  test('each message is received once, with its sender and time, and disappears when it is deleted', async () => {
    await using queues = await open();
    const bodies = Array.from({ length: 23 }, (_, index) => `{"text":"${index} é"}`);
    const before = Date.now();

    await queues.jobs.send(bodies);
    const received = await receiveSome(queues.jobs, 23);

    expect(received.map(({ body }) => body).sort()).toEqual(bodies.toSorted());
    expect(new Set(received.map(({ messageId }) => messageId)).size).toBe(23);
    for (const { receives, sender, sentAtMs = 0 } of received) {
      expect(receives).toBe(1);
      expect(sender).not.toBe('');
      expect(Math.abs(sentAtMs - before)).toBeLessThan(60_000);
    }
    for (const { receipt } of received) await queues.jobs.delete(receipt);
    await eventually(async () =>
      expect(await queues.jobs.counts()).toEqual({ waiting: 0, inFlight: 0, delayed: 0 }),
    );
  });

  test('a body with characters that SQS refuses arrives as the same value', async () => {
    await using queues = await open();
    const text = 'a\uFFFE\uFFFF\uD800 é\uFFFD\u007F\u0085';

    await queues.jobs.send([`{"text":"${text}"}`]);

    const [message] = await receive(queues.jobs, 60, 5);
    expect(JSON.parse(message?.body ?? '')).toEqual({ text });
  });

  test('the largest messages are accepted, and a message that is too large does not block the other messages', async () => {
    await using queues = await open();
    const largest = 'x'.repeat(MAX_MESSAGE_BYTES);

    await expect(queues.jobs.send([largest, 'y'.repeat(2 ** 20 + 1), largest])).rejects.toMatchObject({
      unsent: [{ index: 1 }],
    });

    const received = await receiveSome(queues.jobs, 2);
    expect(received.map(({ body }) => body.length)).toEqual([MAX_MESSAGE_BYTES, MAX_MESSAGE_BYTES]);
  });

  test('a long poll ends with the first message, or otherwise when its time is up', async () => {
    await using queues = await open();
    const empty = await receive(queues.jobs, 60, 1);

    const polling = receive(queues.jobs, 60, 10);
    await delay(200);
    await queues.jobs.send(['a']);

    expect(empty).toEqual([]);
    expect(await polling).toMatchObject([{ body: 'a' }]);
  });

  test('a missing queue is reported as missing', async () => {
    await using queues = await open();
    if (queues.missing === undefined) return;

    const missing = { failure: { kind: 'missing' } };
    await expect(queues.missing.send(['a'])).rejects.toMatchObject(missing);
    await expect(receive(queues.missing)).rejects.toMatchObject(missing);
    await expect(queues.missing.counts()).rejects.toMatchObject(missing);
  });
}

function describeHiding(open: () => Promise<QueuesUnderTest>): void {
  test('a message that is not deleted is delivered again once it is visible, with another receipt', async () => {
    await using queues = await open();
    await queues.jobs.send(['a']);
    const [first] = await receive(queues.jobs, 2, 5);

    expect(await receive(queues.jobs, 60, 1)).toEqual([]);
    const [again] = await receive(queues.jobs, 60, 5);

    expect(again).toMatchObject({ body: 'a', messageId: first?.messageId, receives: 2 });
    await queues.jobs.delete(again?.receipt ?? '');
    await eventually(async () => expect((await queues.jobs.counts()).inFlight).toBe(0));
  });

  test('a delayed message counts as in flight until its delay ends', async () => {
    await using queues = await open();
    await queues.jobs.send(['a']);
    const [first] = await receive(queues.jobs, 60, 5);

    await queues.jobs.delay(first?.receipt ?? '', 3_000);

    await eventually(async () => expect(await queues.jobs.counts()).toMatchObject({ inFlight: 1 }));
    expect(await receive(queues.jobs, 60, 5)).toMatchObject([{ body: 'a', receives: 2 }]);
  });

  test('a delay of a day is accepted for a message that has been held for a while', async () => {
    await using queues = await open();
    await queues.jobs.send(['a']);
    const [first] = await receive(queues.jobs, 60, 5);
    await delay(1_100);

    await queues.jobs.delay(first?.receipt ?? '', 86_400_000);

    expect(await receive(queues.jobs, 60, 1)).toEqual([]);
    await eventually(async () => expect(await queues.jobs.counts()).toMatchObject({ inFlight: 1 }));
  });
}

function describeDeadLetters(open: () => Promise<QueuesUnderTest>): void {
  test('messages that were received too often become dead letters, and are moved back complete', async () => {
    await using queues = await open();
    const bodies = Array.from({ length: 12 }, (_, index) => `{"text":"${index}\uFFFE"}`);
    await queues.jobs.send(bodies);
    for (let receives = 0; receives < 2; receives += 1) {
      const received = await receiveSome(queues.jobs, 12);
      expect(received).toHaveLength(12);
      for (const { receipt } of received) await queues.jobs.delay(receipt, 0);
    }
    // A message becomes a dead letter at the receive after its last one.
    await eventually(async () => {
      expect(await receive(queues.jobs, 60, 1)).toEqual([]);
      expect((await queues.dead.counts()).waiting).toBe(12);
    });

    const moved = await moveDeadLetters({
      from: queues.dead,
      to: queues.jobs,
      polls: { waitSeconds: 1, emptyPolls: 1 },
    });

    expect(moved).toEqual({ moved: 12, notMoved: [], held: 0 });
    const received = await receiveSome(queues.jobs, 12);
    expect(received.map(({ body }) => JSON.parse(body)).sort(byText)).toEqual(
      bodies.map((body) => JSON.parse(body)).sort(byText),
    );
    await eventually(async () =>
      expect(await queues.dead.counts()).toEqual({ waiting: 0, inFlight: 0, delayed: 0 }),
    );
  });
}

const byText = (one: { readonly text: string }, other: { readonly text: string }) =>
  one.text < other.text ? -1 : 1;
