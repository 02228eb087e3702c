import { Stack } from 'aws-cdk-lib';
import { Annotations, Match, Template as Synthesized } from 'aws-cdk-lib/assertions';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { describe, expect, test } from 'vitest';
import { PlatformSync } from '../../infra/index.ts';
import { appOf, full, minimal, resourcesOf, templateOf } from './instances.ts';
import { lineOf, placeOf, type Statement } from './statement-lines.ts';

/** The actions that a policy allows, one a line, without the resources that all policies share. */
const linesOf = (name: string): readonly string[] =>
  resourcesOf(templateOf({ ...minimal, functionsQueue: true }))
    .filter(([id, { Type }]) => Type === 'AWS::IAM::ManagedPolicy' && id.startsWith(`Policies${name}`))
    .flatMap(
      ([, { Properties }]) => (Properties['PolicyDocument'] as { Statement: readonly Statement[] }).Statement,
    )
    .map(lineOf)
    .sort();

describe('people may do no more than their commands need:', () => {
  test('readers', () => {
    expect(linesOf('Reader')).toMatchInlineSnapshot(`
      [
        "athena:BatchGetNamedQuery, athena:GetNamedQuery, athena:GetQueryExecution, athena:GetQueryResults, athena:GetWorkGroup, athena:ListNamedQueries, athena:ListQueryExecutions, athena:StartQueryExecution, athena:StopQueryExecution on arn:Partition:athena:Region:AccountId:workgroup/platformsyncleast-catalog-ba9d4e91",
        "cloudformation:DescribeStacks on arn:Partition:cloudformation:Region:AccountId:stack/platform-sync-least/*",
        "glue:GetDatabase, glue:GetPartition, glue:GetPartitions, glue:GetTable, glue:GetTables on arn:Partition:glue:Region:AccountId:catalog, arn:Partition:glue:Region:AccountId:database/platformsyncleast_catalog_ba9d4e91, arn:Partition:glue:Region:AccountId:table/platformsyncleast_catalog_ba9d4e91/*",
        "s3:AbortMultipartUpload, s3:PutObject on StorageBucket/athena-results/*, StorageBucket/checks/*",
        "s3:GetBucketLocation, s3:GetBucketVersioning, s3:GetLifecycleConfiguration, s3:ListBucket on StorageBucket",
        "s3:GetObject on StorageBucket/athena-results/*, StorageBucket/calculations.*, StorageBucket/calculations/*, StorageBucket/cards.*, StorageBucket/cards/*, StorageBucket/changes/*, StorageBucket/checks/*, StorageBucket/data-files.*, StorageBucket/data-files/*, StorageBucket/files.*, StorageBucket/files/*, StorageBucket/formulas/*, StorageBucket/model/*, StorageBucket/parquet/calculations*, StorageBucket/parquet/cards*, StorageBucket/parquet/data-files*, StorageBucket/parquet/files*, StorageBucket/parquet/latest/*, StorageBucket/parquet/runs/*, StorageBucket/parquet/uses/*, StorageBucket/refused/*, StorageBucket/report/*, StorageBucket/results/*, StorageBucket/scores/*",
      ]
    `);
  });

  test('those who start work', () => {
    expect(linesOf('Submitter')).toMatchInlineSnapshot(`
      [
        "s3:AbortMultipartUpload, s3:PutObject on StorageBucket/formulas/sets/*, StorageBucket/inbox/*",
        "sqs:SendMessage on JobsFunctionsQueue, JobsQueue",
      ]
    `);
  });

  test('those who are on call', () => {
    expect(linesOf('Operator')).toMatchInlineSnapshot(`
      [
        "cloudwatch:DescribeAlarmContributors, lambda:GetAccountSettings on *",
        "dynamodb:BatchGetItem, dynamodb:DeleteItem, dynamodb:GetItem, dynamodb:PutItem, dynamodb:Query, dynamodb:Scan on StorageTable",
        "events:PutEvents on arn:Partition:events:Region:AccountId:event-bus/default if {"StringEquals":{"events:source":"platform-sync"}}",
        "glue:CreatePartition, glue:DeletePartition, glue:GetTable, glue:UpdatePartition on arn:Partition:glue:Region:AccountId:catalog, arn:Partition:glue:Region:AccountId:database/platformsyncleast_catalog_ba9d4e91, arn:Partition:glue:Region:AccountId:table/platformsyncleast_catalog_ba9d4e91/*",
        "s3:AbortMultipartUpload, s3:DeleteObject, s3:DeleteObjectVersion, s3:GetObject, s3:GetObjectVersion, s3:PutObject on StorageBucket/scores/*, StorageBucket/work/*",
        "s3:AbortMultipartUpload, s3:PutObject on StorageBucket/calculations*, StorageBucket/cards*, StorageBucket/changes/*, StorageBucket/data-files*, StorageBucket/files*, StorageBucket/formulas/*, StorageBucket/parquet/*, StorageBucket/results/*, StorageBucket/table.json",
        "s3:DeleteObject on StorageBucket/calculations*/dt=*, StorageBucket/cards*/dt=*, StorageBucket/changes/*, StorageBucket/data-files*/dt=*, StorageBucket/files*/dt=*, StorageBucket/parquet/*/dt=*, StorageBucket/report/latest*",
        "s3:GetObject on StorageBucket/results/*, StorageBucket/table.json",
        "s3:ListBucket on StorageBucket",
        "s3:ListBucketVersions on StorageBucket if {"StringLike":{"s3:prefix":["scores/*","work/*"]}}",
        "s3:PutObjectTagging on StorageBucket/calculations*/dt=*, StorageBucket/cards*/dt=*, StorageBucket/changes/*, StorageBucket/data-files*/dt=*, StorageBucket/files*/dt=*, StorageBucket/parquet/*/dt=*",
        "sqs:DeleteMessage, sqs:ReceiveMessage on JobsDeadLetters, RareDeadLetters",
        "sqs:GetQueueAttributes on JobsDeadLetters",
        "sqs:GetQueueAttributes, sqs:SendMessage on JobsFunctionsQueue, JobsQueue",
      ]
    `);
  });
});

test('IAM accepts the policies, even with the longest names', () => {
  const policies = resourcesOf(templateOf({ ...full, name: 'a'.repeat(41) })).filter(
    ([, { Type }]) => Type === 'AWS::IAM::ManagedPolicy',
  );

  for (const [id, { Properties }] of policies) {
    const text = JSON.stringify(Properties['PolicyDocument'])
      .replaceAll(/\{"Fn::GetAtt":\["[^"]+","Arn"\]\}/g, `"arn:aws:s3:::${'b'.repeat(63)}"`)
      .replaceAll(/\{"Ref":"[^"]+"\}/g, '"eu-central-1"')
      .replaceAll(
        /\{"Fn::Join":\["",\[([^\]]*)\]\]\}/g,
        (_, parts: string) => `"${parts.replaceAll(/[",]/g, '')}"`,
      );
    expect([id, text, text.length <= 6_144]).toEqual([id, text, true]);
  }
});

describe('readers in other accounts', () => {
  const policiesOf = (instance: object) =>
    JSON.stringify(
      resourcesOf(templateOf(instance)).filter(([, { Type }]) => Type === 'AWS::S3::BucketPolicy'),
    );

  test('may use a key of the app to decrypt, through S3 only', () => {
    const stack = new Stack(appOf(minimal), 'theirs');
    new PlatformSync(stack, 'Sync', {
      ...minimal,
      readers: ['444455556666'],
      key: new Key(stack, 'Key', { enableKeyRotation: true }),
    });

    Synthesized.fromStack(stack).hasResourceProperties('AWS::KMS::Key', {
      KeyPolicy: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Action: 'kms:Decrypt',
            Principal: { AWS: Match.objectLike({ 'Fn::Join': Match.anyValue() }) },
            Condition: { StringLike: { 'kms:ViaService': Match.anyValue() } },
          }),
        ]),
      },
    });
  });

  test('may read published runs, and nothing else', () => {
    const [[, bucketPolicy] = []] = resourcesOf(templateOf(full)).filter(
      ([id, { Type }]) => Type === 'AWS::S3::BucketPolicy' && id.startsWith('StorageBucket'),
    );
    const { Statement: statements = [] } = (bucketPolicy?.Properties['PolicyDocument'] ?? {}) as {
      Statement?: readonly (Statement & { readonly Effect: string })[];
    };
    const allowed = statements.filter(
      ({ Effect, Action }) =>
        Effect === 'Allow' && ['s3:GetObject', 's3:ListBucket'].includes(String(Action)),
    );

    expect(JSON.stringify(allowed)).toContain('444455556666');
    expect(JSON.stringify(allowed)).toContain('arn:aws:iam::777788889999:role/team/analysts');
    expect(allowed.map(({ Action, Resource }) => [Action, [Resource].flat().map(placeOf).sort()])).toEqual([
      [
        's3:GetObject',
        [
          'calculations/*',
          'calculations.*',
          'files/*',
          'files.*',
          'cards/*',
          'cards.*',
          'data-files/*',
          'data-files.*',
          'changes/*',
          'parquet/calculations*',
          'parquet/files*',
          'parquet/cards*',
          'parquet/data-files*',
          'parquet/latest/*',
          'parquet/runs/*',
          'parquet/uses/*',
          'model/*',
        ]
          .map((folder) => `StorageBucket/${folder}`)
          .sort(),
      ],
      ['s3:ListBucket', ['StorageBucket']],
    ]);
    expect(allowed[1]?.Condition).toMatchObject({
      StringLike: { 's3:prefix': expect.arrayContaining(['cards/*']) },
    });
  });

  test('do not exist unless they are configured', () => {
    expect(policiesOf(minimal)).not.toContain('"Allow","Principal":{"AWS":"arn');
    expect(policiesOf(minimal)).not.toContain('444455556666');
  });

  test('must be let in by the owner of an existing bucket, and a warning says so', () => {
    const [stack] = appOf(minimal).node.children.filter(Stack.isStack);
    if (stack === undefined) throw new Error('expected a stack');
    const bucket = Bucket.fromBucketName(stack, 'Given', 'their-bucket');
    new PlatformSync(stack, 'Other', { baseUrl: minimal.baseUrl, bucket, readers: ['444455556666'] });

    expect(
      Annotations.fromStack(stack).findWarning(
        '*',
        Match.stringLikeRegexp('^readers: you manage the policy of the bucket'),
      ),
    ).toHaveLength(1);
  });
});
