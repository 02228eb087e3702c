import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { GetTableCommand, GlueClient } from '@aws-sdk/client-glue';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import {
  CopyObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  PutObjectTaggingCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { PublishCommand, SNSClient } from '@aws-sdk/client-sns';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { ACCOUNT, REGION } from '../identity.ts';
import { type StackServices, startStackServices } from '../stack/stack-services.ts';
import type { Template } from '../stack/template.ts';
import { templateValues } from '../stack/template-values.ts';
import { createAccess } from './access.ts';
import type { Statement } from './statement.ts';

const arnOf = (id: string) => ({ 'Fn::GetAtt': [id, 'Arn'] });
const root = { AWS: `arn:aws:iam::${ACCOUNT}:root` };

/** A function with these statements, and a resource of each kind. */
const templateWith = (statements: readonly object[]) =>
  ({
    Resources: {
      Bucket: { Type: 'AWS::S3::Bucket', Properties: {} },
      Queue: { Type: 'AWS::SQS::Queue', Properties: { VisibilityTimeout: 30 } },
      Table: {
        Type: 'AWS::DynamoDB::Table',
        Properties: { KeySchema: [{ AttributeName: 'pk' }, { AttributeName: 'sk' }] },
      },
      Key: {
        Type: 'AWS::KMS::Key',
        Properties: {
          KeyPolicy: { Statement: [{ Effect: 'Allow', Principal: root, Action: 'kms:*', Resource: '*' }] },
        },
      },
      Secret: { Type: 'AWS::SecretsManager::Secret', Properties: { KmsKeyId: arnOf('Key') } },
      Topic: { Type: 'AWS::SNS::Topic', Properties: {} },
      Database: { Type: 'AWS::Glue::Database', Properties: { DatabaseInput: { Name: 'runs' } } },
      Role: { Type: 'AWS::IAM::Role', Properties: { AssumeRolePolicyDocument: { Statement: [] } } },
      Function: { Type: 'AWS::Lambda::Function', Properties: { Role: arnOf('Role') } },
      Policy: {
        Type: 'AWS::IAM::Policy',
        Properties: { Roles: [{ Ref: 'Role' }], PolicyDocument: { Statement: statements } },
      },
    },
  }) as unknown as Template;

const bucket = 'arn:aws:s3:::bucket';
const running = new AsyncDisposableStack();
const services: StackServices = running.use(
  await startStackServices({
    template: templateWith([{ Effect: 'Allow', Action: '*', Resource: '*' }]),
    secret: 'token',
  }),
);
afterAll(() => running.disposeAsync());

const optionsOf = (accessKeyId: string) => ({
  endpoint: services.endpoint,
  region: REGION,
  credentials: { accessKeyId, secretAccessKey: 'any' },
  forcePathStyle: true,
});
const options = optionsOf('Function');
const s3 = new S3Client(options);
const owner = new S3Client(optionsOf('sandbox'));

/** A statement that denies actions to all principals. */
const deny = (Action: string, Resource = '*', more: Partial<Statement> = {}) =>
  services.access.added.push({ Effect: 'Deny', Action, Resource, ...more });

beforeEach(() => void services.access.added.splice(0));

const queue = `${services.endpoint}/${ACCOUNT}/Queue`;
const topic = `arn:aws:sns:${REGION}:${ACCOUNT}:Topic`;
const secret = `arn:aws:secretsmanager:${REGION}:${ACCOUNT}:secret:Secret-AbCdEf`;
const object = { Bucket: 'bucket', Key: 'a/b' };

test.each([
  ['S3', 'AccessDenied', 403, () => s3.send(new PutObjectCommand({ ...object, Body: 'x' }))],
  ['S3, of a head', 'Unknown', 403, () => s3.send(new HeadObjectCommand(object))],
  [
    'SQS',
    'AccessDenied',
    403,
    () => new SQSClient(options).send(new SendMessageCommand({ QueueUrl: queue, MessageBody: 'x' })),
  ],
  [
    'DynamoDB',
    'AccessDeniedException',
    400,
    () =>
      new DynamoDBClient(options).send(
        new GetItemCommand({ TableName: 'Table', Key: { pk: { S: 'a' }, sk: { S: 'b' } } }),
      ),
  ],
  [
    'Secrets Manager',
    'AccessDeniedException',
    400,
    () => new SecretsManagerClient(options).send(new GetSecretValueCommand({ SecretId: secret })),
  ],
  [
    'the Parameter Store',
    'AccessDeniedException',
    400,
    () => new SSMClient(options).send(new GetParameterCommand({ Name: '/token' })),
  ],
  [
    'EventBridge',
    'AccessDeniedException',
    400,
    () =>
      new EventBridgeClient(options).send(
        new PutEventsCommand({ Entries: [{ Source: 's', DetailType: 'd', Detail: '{}' }] }),
      ),
  ],
  [
    'Glue',
    'AccessDeniedException',
    400,
    () => new GlueClient(options).send(new GetTableCommand({ DatabaseName: 'runs', Name: 't' })),
  ],
  [
    'SNS',
    'AuthorizationErrorException',
    403,
    () => new SNSClient(options).send(new PublishCommand({ TopicArn: topic, Message: 'x' })),
  ],
  [
    'Lambda',
    'AccessDeniedException',
    403,
    () => new LambdaClient(options).send(new InvokeCommand({ FunctionName: 'Function' })),
  ],
])('%s denies access in a form that its SDK can parse: %s, %i', async (_, name, httpStatusCode, send) => {
  deny('*');

  const refused = await send().catch((error: unknown) => error);

  expect(refused).toMatchObject({ name, $metadata: { httpStatusCode } });
});

test('a denial names the caller, the action and the resource, and nothing is executed', async () => {
  deny('s3:PutObject', `${bucket}/a/*`);

  await expect(s3.send(new PutObjectCommand({ ...object, Body: 'x' }))).rejects.toThrow(
    `User: arn:aws:iam::${ACCOUNT}:role/Role is not authorized to perform: s3:PutObject on resource: ${bucket}/a/b with an explicit deny`,
  );
  await expect(owner.send(new GetObjectCommand(object))).rejects.toMatchObject({ name: 'NoSuchKey' });
  expect(services.access.refusals()).toContain(`Function may not s3:PutObject on ${bucket}/a/b`);
});

test('only a caller who may list a key learns that its object is missing', async () => {
  const get = () => s3.send(new GetObjectCommand({ Bucket: 'bucket', Key: 'none/x' }));

  await expect(get()).rejects.toMatchObject({ name: 'NoSuchKey' });
  deny('s3:ListBucket', bucket, { Condition: { StringLike: { 's3:prefix': 'none/*' } } });
  await expect(get()).rejects.toMatchObject({ name: 'AccessDenied' });
});

test('a put needs the right to read if it compares an ETag, and the right to tag if it sets tags', async () => {
  const { ETag } = await owner.send(new PutObjectCommand({ ...object, Body: 'x' }));
  deny('s3:GetObject');
  deny('s3:PutObjectTagging');
  const put = (more: object) => s3.send(new PutObjectCommand({ ...object, Body: 'y', ...more }));

  await expect(put({ IfMatch: ETag })).rejects.toMatchObject({ name: 'AccessDenied' });
  await expect(put({ Tagging: 'a=b' })).rejects.toMatchObject({ name: 'AccessDenied' });
  await put({});
});

test('a copy needs the right to read its source, and the tags of its source if there are any', async () => {
  const copy = () => s3.send(new CopyObjectCommand({ ...object, Key: 'copy', CopySource: 'bucket/a/b' }));
  await owner.send(new PutObjectCommand({ ...object, Body: 'x' }));
  deny('s3:GetObjectTagging', `${bucket}/a/b`);

  await copy();
  const Tagging = { TagSet: [{ Key: 'a', Value: 'b' }] };
  await owner.send(new PutObjectTaggingCommand({ ...object, Tagging }));
  await expect(copy()).rejects.toMatchObject({ name: 'AccessDenied' });
  services.access.added.splice(0);
  deny('s3:GetObject', `${bucket}/a/b`);
  await expect(copy()).rejects.toMatchObject({ name: 'AccessDenied' });
});

test('an object encrypted with a key can be read by callers who may decrypt with that key through S3', async () => {
  const client = new SecretsManagerClient(options);
  const get = () => client.send(new GetSecretValueCommand({ SecretId: secret }));
  const through = (service: string) => ({ StringLike: { 'kms:ViaService': `${service}.*` } });

  deny('kms:Decrypt', '*', { Condition: through('s3') });
  expect((await get()).SecretString).toBe('token');
  deny('kms:Decrypt', '*', { Condition: through('secretsmanager') });
  await expect(get()).rejects.toThrow('kms:Decrypt');
});

test('an access key id is an error if no function and no policy of the template has it', async () => {
  const other = new S3Client(optionsOf('Other'));

  await expect(other.send(new GetObjectCommand(object))).rejects.toMatchObject({
    $metadata: { httpStatusCode: 501 },
  });
});

/** Whether the function may send to the queue, according to its own statements and the queue's. */
function maySend(own: readonly object[], ofQueue: readonly object[]) {
  const template = templateWith(own);
  const QueuePolicy = {
    Type: 'AWS::SQS::QueuePolicy',
    Properties: { Queues: [{ Ref: 'Queue' }], PolicyDocument: { Statement: ofQueue } },
  };
  const changed = { Resources: { ...template.Resources, QueuePolicy } };
  const resolve = templateValues(changed, { endpoint: 'http://127.0.0.1' });
  const access = createAccess({ template: changed, resolve });
  const resource = `arn:aws:sqs:${REGION}:${ACCOUNT}:Queue`;
  return access.refusalOf({ action: 'sqs:SendMessage', resource }, 'Function') === undefined;
}

const send = { Effect: 'Allow', Action: 'sqs:Send*', Resource: arnOf('Queue') };
const anyone = { ...send, Principal: { AWS: '*' } };
const insecure = { Bool: { 'aws:SecureTransport': 'false' } };

test.each([
  ['its own statement allows it', [send], [], true],
  ['none allows it', [], [], false],
  ['the queue lets its role', [], [{ ...send, Principal: { AWS: arnOf('Role') } }], true],
  ['the queue leaves it to the account', [], [{ ...send, Principal: root }], false],
  ['the queue denies it to all', [send], [{ ...anyone, Effect: 'Deny' }], false],
  [
    'the queue denies what is not sent so',
    [send],
    [{ ...anyone, Effect: 'Deny', Condition: insecure }],
    true,
  ],
  ['its own statement denies it', [send, { ...send, Effect: 'Deny' }], [anyone], false],
  ['the statement is about another action', [{ ...send, Action: 'sqs:SendMessages' }], [], false],
  ['the queue lets a service', [], [{ ...send, Principal: { Service: 'events.amazonaws.com' } }], false],
])('the decision whether a role may send is correct if %s', (_, own, ofQueue, may) => {
  expect(maySend(own, ofQueue)).toBe(may);
});

test('a policy statement is an error if it has a member that the check cannot evaluate', () => {
  const { Action: _, ...others } = send;

  expect(() => maySend([{ ...others, NotAction: 'sqs:Send*' }], [])).toThrow('got NotAction');
});
