import { describe, expect, test } from 'vitest';
import { environmentOf, retryAtOnce } from '../base/aws/replies.ts';
import { bytes, startServer } from '../platform/scripted-server.ts';
import { runCommand } from './run-command.ts';

const outputs = (...members: readonly (readonly [key: string, value: string, description?: string])[]) =>
  bytes(
    `<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><DescribeStacksResult><Stacks><member>
    <StackName>s</StackName><CreationTime>2026-11-24T00:00:00Z</CreationTime><StackStatus>CREATE_COMPLETE</StackStatus><Outputs>${members
      .map(
        ([key, value, description]) =>
          `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue>${
            description === undefined ? '' : `<Description>${description}</Description>`
          }</member>`,
      )
      .join('')}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`,
    { 'content-type': 'text/xml' },
  );

async function env(reply: ReturnType<typeof bytes>, ...words: readonly string[]) {
  retryAtOnce();
  await using server = await startServer(reply, reply, reply);
  const ended = await runCommand(['env', '--stack', 'acme', ...words], environmentOf(server));
  return { ...ended, asked: server.requests.map(({ body }) => body)[0] };
}

const ACME = outputs(
  ['Store', 's3://acme', 'SYNC_STORE'],
  ['TableName', 'acme-table', 'SYNC_TABLE'],
  ['WorkGroup', 'acme'],
  ['PoliciesReaderArn', 'arn:aws:iam::1:policy/r', 'For people who read'],
);

const TWO = outputs(
  ['AcmeStore0A1B2C3D', 's3://acme', 'SYNC_STORE'],
  ['AcmeTableName0A1B2C3D', 'acme-table', 'SYNC_TABLE'],
  ['OtherStore0A1B2C3D', 's3://other', 'SYNC_STORE'],
);

describe('env', () => {
  test('prints the outputs of a stack that are settings, one a line, or as one JSON value', async () => {
    const { code, out, asked } = await env(ACME);
    const machines = await env(ACME, '--json');

    expect(JSON.parse(machines.out)).toEqual({ SYNC_STORE: 's3://acme', SYNC_TABLE: 'acme-table' });
    expect({ code, out }).toEqual({ code: 0, out: 'SYNC_STORE=s3://acme\nSYNC_TABLE=acme-table' });
    expect(asked).toMatch(/Action=DescribeStacks&.*StackName=acme|StackName=acme.*Action=DescribeStacks/);
  });

  test('prints the settings of the named instance if the stack has several', async () => {
    const { code, out } = await env(TWO, '--construct', 'Acme');

    expect({ code, out }).toEqual({ code: 0, out: 'SYNC_STORE=s3://acme\nSYNC_TABLE=acme-table' });
  });
});

test.for([
  [
    'a stack with several instances',
    TWO,
    [],
    'the stack has 2 instances; choose one with --construct: AcmeStore0A1B2C3D, OtherStore0A1B2C3D',
  ],
  [
    'a name that no instance has',
    TWO,
    ['--construct', 'X'],
    'the stack has no instance whose outputs begin with X',
  ],
  ['a stack without an instance', outputs(['Bucket', 'b']), [], '--stack acme: the stack has no instance'],
] as const)('env refuses %s with exit code 2', async ([, reply, words, message]) => {
  const { code, err } = await env(reply, ...words);

  expect(code).toBe(2);
  expect(err).toContain(message);
});

test('env exits 1 and prints the message of the service if there is no stack of that name', async () => {
  const fault =
    '<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code><Message>Stack with id acme does not exist</Message></Error></ErrorResponse>';

  const { code, err } = await env(bytes(fault, { 'content-type': 'text/xml' }, 400));

  expect(code).toBe(1);
  expect(err).toContain('describe the stack acme');
  expect(err).toContain('does not exist');
});
