import { expect, test } from 'vitest';
import { listOf, type Members } from '../aws-request.ts';
import type { RuleName } from '../rules.ts';
import { inside, startLayer } from '../start-layer.ts';

type Layer = Awaited<ReturnType<typeof startLayer>>;

const bodiesOf = (reply: Members) => listOf(reply['Messages']).map(({ Body }) => String(Body));

const receiptOf = (reply: Members) => listOf(reply['Messages'])[0]?.['ReceiptHandle'];

async function send({ sqs }: Layer, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent += 1) await sqs('SendMessage', { MessageBody: `m${sent}` });
}

const receive = ({ sqs }: Layer, members: Members = {}) =>
  sqs('ReceiveMessage', { MaxNumberOfMessages: 10, VisibilityTimeout: 600, WaitTimeSeconds: 1, ...members });

const only = (...names: readonly RuleName[]) => ({ only: names });

test('short polls miss waiting messages; long polls do not', async () => {
  await using layer = await startLayer(only('sqs-short-polls-miss'));
  await send(layer, 1);
  const visible = { VisibilityTimeout: 0 };

  const short = [];
  for (let poll = 0; poll < 20; poll += 1)
    short.push(await receive(layer, { ...visible, WaitTimeSeconds: 0 }));
  const byDefault = [];
  for (let poll = 0; poll < 20; poll += 1)
    byDefault.push(await layer.sqs('ReceiveMessage', { VisibilityTimeout: 0, MaxNumberOfMessages: 1 }));
  const long = [];
  for (let poll = 0; poll < 20; poll += 1) long.push(await receive(layer, visible));

  const missed = (polls: readonly Members[]) => polls.filter((reply) => bodiesOf(reply).length === 0).length;
  expect(missed(short)).toBeGreaterThan(3);
  expect(missed(short)).toBeLessThan(17);
  expect(missed(byDefault)).toBeGreaterThan(3);
  expect(missed(long)).toBe(0);
});

test('a receive returns fewer messages than were requested and are waiting, but at least one', async () => {
  await using layer = await startLayer(only('sqs-fewer-messages'));
  await send(layer, 10);

  const sizes = [];
  for (let poll = 0; poll < 12; poll += 1)
    sizes.push(bodiesOf(await receive(layer, { VisibilityTimeout: 0 })).length);

  expect(sizes).toContain(10);
  expect(sizes.filter((size) => size < 10).length).toBeGreaterThan(2);
  expect(Math.min(...sizes)).toBeGreaterThan(0);
});

test('messages are received in a different order than they were sent, and none is lost', async () => {
  await using layer = await startLayer(only('sqs-order-changes'));
  const bodies = Array.from({ length: 10 }, (_, index) => `m${index}`);
  await layer.sqs('SendMessageBatch', {
    Entries: bodies.map((MessageBody, index) => ({ Id: `${index}`, MessageBody })),
  });

  const received = bodiesOf(await receive(layer));

  expect(received).not.toEqual(bodies);
  expect(received.toSorted()).toEqual(bodies);
});

test('a message is occasionally delivered again although it is hidden or deleted, and changes to the copy do not affect it', async () => {
  let nowMs = 0;
  await using layer = await startLayer({ ...only('sqs-deliveries-repeat'), now: () => nowMs });
  const copies: string[] = [];

  for (let sent = 0; sent < 100; sent += 1) {
    await layer.sqs('SendMessage', { MessageBody: `m${sent}` });
    const first = await receive(layer, { WaitTimeSeconds: 0 });
    nowMs += 100;
    const again = await receive(layer, { WaitTimeSeconds: 0 });
    copies.push(...bodiesOf(again));
    for (const ReceiptHandle of [receiptOf(first), receiptOf(again)])
      if (ReceiptHandle !== undefined) await layer.sqs('DeleteMessage', { ReceiptHandle });
  }

  expect(copies.length).toBeGreaterThan(1);
  expect(copies.length).toBeLessThan(8);
  expect(new Set(copies).size).toBe(copies.length);
});

test('counts may be up to 1.5 s old, and are right once nothing changes', async () => {
  let nowMs = 1_000_000;
  await using layer = await startLayer({ ...only('sqs-counts-lag'), now: () => nowMs });
  const count = async () => {
    const { Attributes } = (await layer.sqs('GetQueueAttributes', { AttributeNames: ['All'] })) as Members;
    return Number(inside(Attributes)['ApproximateNumberOfMessages']);
  };
  await count();
  nowMs += 100;
  await send(layer, 3);

  const early: number[] = [];
  for (let asked = 0; asked < 20; asked += 1) {
    nowMs += 10;
    early.push(await count());
  }
  nowMs += 1_500;
  const late = [await count(), await count(), await count()];

  expect(early).toContain(0);
  expect(early).toContain(3);
  expect(late).toEqual([3, 3, 3]);
});

test('only counts of messages lag: a request for another attribute returns its current value', async () => {
  await using layer = await startLayer(only('sqs-counts-lag'));

  const { Attributes } = (await layer.sqs('GetQueueAttributes', {
    AttributeNames: ['VisibilityTimeout'],
  })) as Members;

  expect(Attributes).toEqual({ VisibilityTimeout: '30' });
});

test('one entry of a batch occasionally fails by a fault of SQS, and is not sent', async () => {
  await using layer = await startLayer(only('sqs-batches-fail-in-part'));
  const failed: Members[] = [];
  let succeeded = 0;

  for (let batch = 0; batch < 40; batch += 1) {
    const Entries = [0, 1].map((index) => ({ Id: `${index}`, MessageBody: `m${batch}.${index}` }));
    const reply: Members = await layer.sqs('SendMessageBatch', { Entries });
    failed.push(...listOf(reply['Failed']));
    succeeded += listOf(reply['Successful']).length;
  }
  const received: string[] = [];
  for (let poll = 0; poll < 10; poll += 1)
    received.push(...bodiesOf(await receive(layer, { WaitTimeSeconds: 0 })));

  expect(failed.length).toBeGreaterThan(1);
  expect(failed).toEqual(
    failed.map(() => expect.objectContaining({ Code: 'InternalError', SenderFault: false })),
  );
  expect(succeeded).toBe(80 - failed.length);
  expect(received).toHaveLength(succeeded);
});
