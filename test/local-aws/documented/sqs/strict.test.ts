import { describe, expect, test } from 'vitest';
import { listOf, type Members } from '../aws-request.ts';
import { startLayer } from '../start-layer.ts';

type Layer = Awaited<ReturnType<typeof startLayer>>;

async function receiveOne({ sqs }: Layer, visibilitySeconds = 600) {
  await sqs('SendMessage', { MessageBody: 'body' });
  const reply: Members = await sqs('ReceiveMessage', { VisibilityTimeout: visibilitySeconds });
  return listOf(reply['Messages'])[0]?.['ReceiptHandle'];
}

const failedCodes = (reply: Members) =>
  listOf(reply['Failed']).map(({ Code, SenderFault }) => [Code, SenderFault]);

describe('the characters of a message', () => {
  test.for([
    ['U+FFFE', '\uFFFE'],
    ['U+FFFF', '\uFFFF'],
    ['U+0000', '\u0000'],
    ['U+001B', '\u001B'],
    ['an unpaired surrogate', '\uD800'],
    ['a high character beside U+FFFE', '😀\uFFFE'],
  ] as const)('are refused if they include %s, alone and in a batch', async ([, character]) => {
    await using layer = await startLayer({ only: ['sqs-characters'] });

    const alone = await layer.sqs('SendMessage', { MessageBody: `a${character}` });
    const inBatch = await layer.sqs('SendMessageBatch', {
      Entries: [
        { Id: 'bad', MessageBody: `a${character}` },
        { Id: 'good', MessageBody: 'a' },
      ],
    });

    expect(alone).toMatchObject({ status: 400, error: 'InvalidMessageContents' });
    expect(failedCodes(inBatch)).toEqual([['InvalidMessageContents', true]]);
  });

  test('include tab, line breaks and characters above U+FFFF, which arrive as they were sent', async () => {
    await using layer = await startLayer({ only: ['sqs-characters'] });
    const bodies = ['\t\r\n', 'é\uE000\uFFFD', '😀 and 𝄞'];

    await layer.sqs('SendMessageBatch', {
      Entries: bodies.map((MessageBody, index) => ({ Id: `${index}`, MessageBody })),
    });
    const reply: Members = await layer.sqs('ReceiveMessage', { MaxNumberOfMessages: 10 });

    expect(listOf(reply['Messages']).map(({ Body }) => Body)).toEqual(bodies);
  });
});

test.for([[-1], [901], [1.5]])('a delay of %d s is refused, alone and in a batch', async ([DelaySeconds]) => {
  await using layer = await startLayer({ only: ['sqs-delay-limit'] });

  const alone = await layer.sqs('SendMessage', { MessageBody: 'a', DelaySeconds });
  const inBatch = await layer.sqs('SendMessageBatch', {
    Entries: [
      { Id: 'bad', MessageBody: 'a', DelaySeconds },
      { Id: 'good', MessageBody: 'a', DelaySeconds: 900 },
    ],
  });

  expect(alone).toMatchObject({ status: 400, error: 'InvalidParameterValue' });
  expect(failedCodes(inBatch)).toEqual([['InvalidParameterValue', true]]);
  expect(listOf((inBatch as Members)['Successful'])).toMatchObject([{ Id: 'good' }]);
});

test.for(['MaxNumberOfMessages', 'WaitTimeSeconds', 'VisibilityTimeout'])(
  '%s must be an integer',
  async (name) => {
    await using layer = await startLayer({ only: ['sqs-whole-numbers'] });

    expect(await layer.sqs('ReceiveMessage', { [name]: 1.5 })).toMatchObject({
      status: 400,
      error: 'SerializationException',
    });
  },
);

describe('a receipt', () => {
  test('is refused by every request if it was never issued', async () => {
    await using layer = await startLayer({ only: ['sqs-receipts'] });
    const refused = { status: 400, error: 'ReceiptHandleIsInvalid' };
    const Entries = [{ Id: '0', ReceiptHandle: 'garbage', VisibilityTimeout: 1 }];

    expect(await layer.sqs('DeleteMessage', { ReceiptHandle: 'garbage' })).toMatchObject(refused);
    expect(
      await layer.sqs('ChangeMessageVisibility', { ReceiptHandle: 'garbage', VisibilityTimeout: 1 }),
    ).toMatchObject(refused);
    expect(failedCodes(await layer.sqs('DeleteMessageBatch', { Entries }))).toEqual([
      ['ReceiptHandleIsInvalid', true],
    ]);
    expect(failedCodes(await layer.sqs('ChangeMessageVisibilityBatch', { Entries }))).toEqual([
      ['ReceiptHandleIsInvalid', true],
    ]);
  });

  test('deletes nothing once it has expired, without an error, and can no longer hide the message', async () => {
    await using layer = await startLayer({ only: ['sqs-receipts'] });
    const ReceiptHandle = await receiveOne(layer, 0);

    const received: Members = await layer.sqs('ReceiveMessage', { VisibilityTimeout: 0 });
    const hidden = await layer.sqs('ChangeMessageVisibility', { ReceiptHandle, VisibilityTimeout: 1 });
    const deleted = await layer.sqs('DeleteMessage', { ReceiptHandle });
    const again: Members = await layer.sqs('ReceiveMessage');

    expect(listOf(received['Messages'])).toHaveLength(1);
    expect(hidden).toMatchObject({ status: 400, error: 'MessageNotInflight' });
    expect(deleted).toMatchObject({ status: 200 });
    expect(listOf(again['Messages'])).toHaveLength(1);
  });
});

test('a message can be hidden for at most 12 hours from when it was received', async () => {
  let nowMs = 0;
  await using layer = await startLayer({ only: ['sqs-twelve-hours'], now: () => nowMs });
  const ReceiptHandle = await receiveOne(layer);
  const hide = (VisibilityTimeout: number) =>
    layer.sqs('ChangeMessageVisibility', { ReceiptHandle, VisibilityTimeout });

  const atOnce = await hide(43_200);
  nowMs = 60_000;
  const tooLong = await hide(43_200);
  const inBatch = await layer.sqs('ChangeMessageVisibilityBatch', {
    Entries: [{ Id: '0', ReceiptHandle, VisibilityTimeout: 43_200 }],
  });
  const shorter = await hide(43_140);

  expect([atOnce.status, tooLong.status, shorter.status]).toEqual([200, 400, 200]);
  expect(tooLong).toMatchObject({
    error: 'InvalidParameterValue',
    message: expect.stringContaining('Total VisibilityTimeout for the message is beyond the limit'),
  });
  expect(failedCodes(inBatch)).toEqual([['InvalidParameterValue', true]]);
});
