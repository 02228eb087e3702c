import { networkInterfaces } from 'node:os';
import { ReceiveMessageCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { expect, test } from 'vitest';
import { openStore } from '../../../lib/store/open.ts';
import { linkToObject } from '../../../lib/store/s3-link.ts';
import { runScript } from '../run-script.ts';
import { type LocalAws, startAws } from './start-aws.ts';

test('an object can be read by a link, without credentials, until the link ends', async () => {
  await using aws = await startAws({ buckets: ['acme'] });
  const store = await openStore('s3://acme/a b', { s3: aws.settings });
  await store.put('page.html', Buffer.from('hello'), { contentType: 'text/html' });
  const link = (seconds: number) =>
    linkToObject({ bucket: 'acme', key: 'a b/page.html', seconds, environment: aws.settings });

  const response = await fetch((await link(60)).url);

  expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
    200,
    'text/html',
    'hello',
  ]);
  expect((await fetch((await link(0)).url)).status).toBe(403);
});

test('the local AWS responds on 127.0.0.1 and on no other address of this machine', async () => {
  await using aws = await startAws({ buckets: [] });
  const { hostname, port } = new URL(aws.endpoint);
  const others = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ family, internal }) => family === 'IPv4' && !internal);

  const reached = await Promise.allSettled(others.map(({ address }) => fetch(`http://${address}:${port}`)));

  expect(hostname).toBe('127.0.0.1');
  expect((await fetch(aws.endpoint)).status).toBe(403);
  expect(reached.filter(({ status }) => status === 'fulfilled')).toEqual([]);
});

const clientOf = ({ endpoint, region, credentials }: LocalAws) =>
  new SQSClient({ endpoint, region, credentials });

test('a queue stores messages, and moves them to its dead-letter queue after the maximum number of receives', async () => {
  const deadLetter = { queue: 'dead', maxReceiveCount: 1 };
  await using aws = await startAws({
    queues: [{ name: 'jobs', visibilitySeconds: 0, deadLetter }, { name: 'dead' }],
  });
  const client = clientOf(aws);
  const receive = async (queue: string) => {
    const input = {
      QueueUrl: aws.queueUrl(queue),
      MessageSystemAttributeNames: ['All' as const],
      WaitTimeSeconds: 1,
    };
    return (await client.send(new ReceiveMessageCommand(input))).Messages;
  };

  await client.send(new SendMessageCommand({ QueueUrl: aws.queueUrl('jobs'), MessageBody: 'body' }));
  const first = await receive('jobs');
  const second = await receive('jobs');
  const dead = await receive('dead');

  expect(aws.queueUrl('jobs')).toBe(`${aws.endpoint}/000000000000/jobs`);
  expect(first).toMatchObject([{ Body: 'body', Attributes: { SenderId: '000000000000' } }]);
  expect(second).toBeUndefined();
  expect(dead).toMatchObject([{ Body: 'body' }]);
});

test("the SDK's own variables reach all three services", async () => {
  await using aws = await startAws({ buckets: ['bucket'], queues: [{ name: 'jobs' }], tables: ['table'] });
  const script = `
    import { ListBucketsCommand, S3Client } from '@aws-sdk/client-s3';
    import { ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs';
    import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
    const { Buckets } = await new S3Client().send(new ListBucketsCommand());
    const { QueueUrls } = await new SQSClient().send(new ListQueuesCommand());
    const { TableNames } = await new DynamoDBClient().send(new ListTablesCommand());
    console.log(Buckets.length, QueueUrls.length, TableNames.length);`;

  expect(await runScript(script, { ...aws.settings })).toMatchObject({ out: '1 1 1\n', code: 0 });
});

test('once closed, it does not keep a process alive', async () => {
  const script = `
    import { startAws } from './test/local-aws/services/start-aws.ts';
    const aws = await startAws({ buckets: ['bucket'], queues: [{ name: 'jobs' }], tables: ['table'] });
    const { ListTablesCommand, DynamoDBClient } = await import('@aws-sdk/client-dynamodb');
    await new DynamoDBClient(aws).send(new ListTablesCommand());
    await fetch(aws.endpoint);
    await aws.close();
    await aws.close();
    console.log('closed');
    setTimeout(() => process.exit(3), 2_000).unref();`;

  expect(await runScript(script)).toEqual({ out: 'closed\n', err: '', code: 0 });
});

test.for([
  [{ queues: [{ name: 'no queue' }] }, /create a queue: expected a name/],
  [{ queues: [{ name: 'jobs', visibilitySeconds: 43_201 }] }, /create the queue jobs: 400/],
  [
    { queues: [{ name: 'jobs', deadLetter: { queue: 'dead', maxReceiveCount: 1 } }] },
    /create the queue jobs: expected a dead-letter queue among the queues, got dead/,
  ],
  [{ tables: ['no table'] }, /failed to satisfy constraint/],
] as const)('wrong options make the start fail: %j', async ([options, expected]) => {
  await expect(startAws(options)).rejects.toThrow(expected);
});

test('a port that is taken makes the start fail', async () => {
  await using aws = await startAws({ buckets: [] });

  const second = startAws({ buckets: [], port: Number(new URL(aws.endpoint).port) });

  await expect(second).rejects.toThrow(/EADDRINUSE/);
});
