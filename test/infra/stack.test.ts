import { Stack } from 'aws-cdk-lib';
import { Annotations, Match } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from 'vitest';
import { jobTimes } from '../../lib/contract.ts';
import { runFunction } from '../../lib/platform/operations/run-function.ts';
import { readSettings, settingNames } from '../../lib/settings.ts';
import { appOf, full, minimal, propertiesOf, resourcesOf, templateOf } from './instances.ts';

const small = templateOf(minimal);
const large = templateOf(full);

describe('the bucket', () => {
  test('is versioned, encrypted and private, and logs who reads it', () => {
    small.hasResourceProperties('AWS::S3::Bucket', {
      VersioningConfiguration: { Status: 'Enabled' },
      BucketEncryption: {
        ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
      },
      LoggingConfiguration: Match.objectLike({ DestinationBucketName: Match.anyValue() }),
      NotificationConfiguration: { EventBridgeConfiguration: { EventBridgeEnabled: true } },
    });
    small.allResourcesProperties('AWS::S3::Bucket', {
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
    });
  });

  test('keeps everything as long as the configuration says', () => {
    const rule = (Prefix: string, ExpirationInDays: number) =>
      Match.objectLike({ Prefix, ExpirationInDays, Status: 'Enabled' });
    const ofReplaced = (Prefix: string, ExpirationInDays: number) => ({
      Prefix,
      ExpirationInDays,
      Status: 'Enabled',
      TagFilters: [{ Key: 'platform-sync-run', Value: 'replaced' }],
    });

    large.hasResourceProperties('AWS::S3::Bucket', {
      LifecycleConfiguration: {
        Rules: Match.arrayWith([
          rule('work/', 20),
          rule('results/', 60),
          rule('inbox/', 40),
          rule('scores/', 100),
          rule('refused/', 50),
          ofReplaced('calculations/dt=', 400),
          ofReplaced('changes/calculations/dt=', 400),
          ofReplaced('calculations.revenue/dt=', 400),
          ofReplaced('changes/calculations.revenue/dt=', 400),
        ]),
      },
    });
    large.hasResourceProperties('AWS::S3::Bucket', {
      LifecycleConfiguration: {
        Rules: Match.arrayWith([
          Match.objectLike({
            NoncurrentVersionExpiration: { NoncurrentDays: 10 },
            AbortIncompleteMultipartUpload: { DaysAfterInitiation: 2 },
            ExpiredObjectDeleteMarker: true,
          }),
        ]),
      },
    });
  });
});

test('the table is billed per request, is encrypted, has point-in-time recovery, and drops expired rows', () => {
  small.hasResourceProperties('AWS::DynamoDB::Table', {
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
    BillingMode: 'PAY_PER_REQUEST',
    SSESpecification: { SSEEnabled: true },
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    TimeToLiveSpecification: { AttributeName: 'expires', Enabled: true },
  });
});

test('no lifecycle rule deletes the newest run, because it has no tag', () => {
  const [{ LifecycleConfiguration: lifecycle } = {}] = propertiesOf(large, 'AWS::S3::Bucket').filter(
    ({ VersioningConfiguration: versioning }) => versioning !== undefined,
  );
  const { Rules } = lifecycle as { readonly Rules: readonly Readonly<Record<string, unknown>>[] };
  const ofRuns = Rules.filter(({ Prefix }) =>
    /(^|\/)(calculations|files|cards|data-files)/.test(`${Prefix}`),
  ).filter(({ ExpirationInDays }) => ExpirationInDays !== undefined);

  expect(ofRuns).toHaveLength(24);
  for (const { TagFilters } of ofRuns)
    expect(TagFilters).toEqual([{ Key: 'platform-sync-run', Value: 'replaced' }]);
});

test('runs and their Parquet move to cheaper tiers while nothing reads them', () => {
  const moved = (prefix: string) => ({
    Prefix: prefix,
    Transitions: [{ StorageClass: 'INTELLIGENT_TIERING', TransitionInDays: 0 }],
  });

  large.hasResourceProperties('AWS::S3::Bucket', {
    LifecycleConfiguration: {
      Rules: Match.arrayWith(
        ['calculations', 'files', 'cards', 'data-files', 'parquet/'].map((each) =>
          Match.objectLike(moved(each)),
        ),
      ),
    },
  });
});

test('the token is in a secret of the stack, or in an existing one', () => {
  small.resourceCountIs('AWS::SecretsManager::Secret', 1);
  large.resourceCountIs('AWS::SecretsManager::Secret', 0);
  large.hasResourceProperties('AWS::Lambda::Function', {
    Environment: { Variables: Match.objectLike({ PLATFORM_TOKEN_SECRET: full.tokenSecretArn }) },
  });
});

describe('the token in a parameter', () => {
  const arn = 'arn:aws:ssm:eu-central-1:111122223333:parameter/acme/token';
  const own = { ...full, tokenSecretArn: undefined };
  const PLACE: object = {
    'Fn::Join': [
      '',
      ['arn:', { Ref: 'AWS::Partition' }, ':ssm:eu-central-1:111122223333:parameter/acme/token'],
    ],
  };

  test.each([
    ['its ARN', arn, arn],
    ['its name', '/acme/token', PLACE],
  ])(
    'is named by %s and read by the functions that call the platform, and no secret is created',
    (_, tokenParameter, place) => {
      const template = templateOf({ ...own, tokenParameter });

      template.resourceCountIs('AWS::SecretsManager::Secret', 0);
      const functions = propertiesOf(template, 'AWS::Lambda::Function');
      for (const { Environment } of functions)
        expect(Environment).toMatchObject({ Variables: { PLATFORM_TOKEN_SECRET: place } });
      const readers = propertiesOf(template, 'AWS::IAM::Policy').filter(({ PolicyDocument }) =>
        JSON.stringify(PolicyDocument).includes('ssm:GetParameter'),
      );
      // The functions for jobs, code functions and snapshots. The splitter of texts does not call the platform.
      expect(readers).toHaveLength(3);
      for (const { PolicyDocument } of readers)
        expect(PolicyDocument).toMatchObject({
          Statement: expect.arrayContaining([
            { Effect: 'Allow', Action: 'ssm:GetParameter', Resource: place },
          ]),
        });
      template.hasOutput('TokenSecretArn', { Value: place });
      expect(JSON.stringify(template.toJSON())).not.toMatch(/secretsmanager:|kms:/);
    },
  );

  const { tokenSecretArn } = full;

  test.each([
    ['a secret', { tokenSecretArn }, { 'kms:EncryptionContext:SecretARN': tokenSecretArn }],
    ['a parameter', { ...own, tokenParameter: arn }, { 'kms:EncryptionContext:PARAMETER_ARN': arn }],
  ])(
    'may be encrypted with a key, which functions use for the token only, as for a token in %s',
    (_, place, context) => {
      const tokenKeyArn = 'arn:aws:kms:eu-central-1:111122223333:key/0b9e4d5e-7d53-4c0d-9d4a-0d8c7f3f1a11';

      templateOf({ ...full, ...place, tokenKeyArn }).hasResourceProperties('AWS::IAM::Policy', {
        PolicyDocument: {
          Statement: Match.arrayWith([
            {
              Effect: 'Allow',
              Action: 'kms:Decrypt',
              Resource: tokenKeyArn,
              Condition: { StringEquals: context },
            },
          ]),
        },
      });
    },
  );
});

test('synth warns of alarms that notify no one', () => {
  const warningsOf = (instance: object) =>
    appOf(instance)
      .synth()
      .stacks.flatMap(({ messages }) => messages.map(({ entry }) => String(entry.data)));

  expect(warningsOf(minimal).filter((text) => text.startsWith('alarms have no recipient'))).toHaveLength(1);
  expect(warningsOf(full).filter((text) => text.startsWith('alarms have no recipient'))).toEqual([]);
});

test('synth warns of a region in which Lambda may lack durable functions, and names it', () => {
  const warningsIn = (region: string) =>
    appOf({ ...minimal, region })
      .synth()
      .stacks.flatMap(({ messages }) => messages.map(({ entry }) => String(entry.data)))
      .filter((text) => text.includes('durable executions'));

  expect(warningsIn('eu-central-1')).toEqual([]);
  expect(warningsIn('me-central-1')).toEqual([
    expect.stringContaining('check whether me-central-1 has them'),
  ]);
});

describe('jobs', () => {
  test('wait at most 14 days, and become visible again once an invocation has certainly ended', () => {
    small.hasResourceProperties('AWS::SQS::Queue', {
      MessageRetentionPeriod: 14 * 24 * 3_600,
      VisibilityTimeout: 400 + 30,
      RedrivePolicy: { deadLetterTargetArn: Match.anyValue(), maxReceiveCount: 1_000 },
    });
  });

  test('get the time that a code function may take, plus the time for the response', () => {
    expect(jobTimes.codeFunctionMs).toBe(runFunction.timeoutMs);
    for (const { Description, Timeout } of propertiesOf(small, 'AWS::Lambda::Function'))
      if (String(Description).startsWith('Runs jobs'))
        expect(Number(Timeout) * 1_000).toBeGreaterThan(jobTimes.codeFunctionMs + jobTimes.toRespondMs);
  });

  test('are acknowledged one by one, and code functions are received one at a time', () => {
    small.allResourcesProperties('AWS::Lambda::EventSourceMapping', {
      FunctionResponseTypes: ['ReportBatchItemFailures'],
    });
    expect(propertiesOf(large, 'AWS::Lambda::EventSourceMapping').map(({ BatchSize }) => BatchSize)).toEqual([
      10, 1,
    ]);
  });

  test('run in as many processes as rate and latency require, at least 2, without reserved concurrency', () => {
    const concurrency = (template: typeof small) =>
      propertiesOf(template, 'AWS::Lambda::EventSourceMapping').map(({ ScalingConfig }) => ScalingConfig);

    // 2/s × 1 s ÷ 8 in flight; 2/s × 10 s, limited to the 8 left by 10 workers.
    expect(concurrency(templateOf({ ...minimal, functionsQueue: true }))).toEqual([
      { MaximumConcurrency: 2 },
      { MaximumConcurrency: 8 },
    ]);
    // Texts get as many as the jobs of all types, and code functions the rest.
    expect(concurrency(templateOf({ ...minimal, functionsQueue: true, textsQueue: true }))).toEqual([
      { MaximumConcurrency: 2 },
      { MaximumConcurrency: 6 },
      { MaximumConcurrency: 2 },
    ]);
    // By the ceiling, 25/s × 2 s ÷ 4 in flight; 25/s × 0.5 s, limited to the 11 left by 30 workers and 6 snapshots.
    expect(concurrency(large)).toEqual([{ MaximumConcurrency: 13 }, { MaximumConcurrency: 11 }]);
    for (const lambda of propertiesOf(large, 'AWS::Lambda::Function'))
      expect(lambda).not.toHaveProperty('ReservedConcurrentExecutions');
  });
});

describe('an instance has', () => {
  const descriptions = (template: typeof small) =>
    propertiesOf(template, 'AWS::Lambda::Function').map(({ Description }) => Description);

  test('a function for texts only if it is configured; it accepts only score jobs, and has half the memory of the function for all types', () => {
    const template = templateOf({ ...minimal, textsQueue: true });

    expect(descriptions(small)).not.toContain('Runs jobs of texts');
    template.hasResourceProperties('AWS::Lambda::Function', {
      Description: 'Runs jobs of texts',
      MemorySize: 512,
      Environment: { Variables: { SYNC_ALLOW: '{"types":["score"]}' } },
    });
    template.hasResourceProperties('AWS::Lambda::Function', {
      Description: 'Splits requests from the inbox into jobs',
      Environment: { Variables: { SYNC_QUEUE_URL: { Ref: Match.stringLikeRegexp('^JobsTextsQueue') } } },
    });
  });

  test('a function for code functions only with event rules, or if it is configured', () => {
    const onItsOwn = templateOf({ ...minimal, functionsQueue: true });

    expect(descriptions(small)).not.toContain('Runs jobs of code functions');
    // The queues exist anyway, so that turning them off deletes no jobs.
    small.resourceCountIs('AWS::SQS::Queue', 5);
    expect(small.findOutputs('FunctionsQueueUrl')).toEqual({});
    expect(descriptions(onItsOwn)).toContain('Runs jobs of code functions');
    onItsOwn.hasOutput('FunctionsQueueUrl', {});
    large.hasOutput('FunctionsQueueUrl', {});
  });

  test('a function that builds tables, unless that is turned off', () => {
    const without = templateOf({ ...minimal, writeTables: false });

    expect(descriptions(small)).toContain('Writes tables as Parquet');
    expect(descriptions(without)).not.toContain('Writes tables as Parquet');
    small.hasResourceProperties('AWS::Scheduler::Schedule', {
      ScheduleExpression: 'cron(30 1 * * ? *)',
      Target: Match.objectLike({ Input: '{"scheduledAt":"<aws.scheduler.scheduled-time>"}' }),
    });
    expect(JSON.stringify(resourcesOf(without))).not.toContain('TablesWrite');
  });

  test('a report after each publication, unless that is turned off', () => {
    const without = templateOf({ ...minimal, writeTables: false, writeReport: false });

    expect(descriptions(without)).not.toContain('Writes the report and sends digests');
    expect(without.findOutputs('ReportLocation')).toEqual({});
    expect(JSON.stringify(resourcesOf(without))).not.toMatch(/Reports(Write|Look)|AlarmsReport/);
    small.hasOutput('ReportLocation', {
      Value: { 'Fn::Join': ['', ['s3://', { Ref: Match.anyValue() }, '/report/latest.html']] },
    });
    small.hasResourceProperties('AWS::Scheduler::Schedule', {
      ScheduleExpression: 'cron(5/10 * * * ? *)',
      Target: Match.objectLike({ Input: Match.stringLikeRegexp('^{"places":\\[\\],') }),
    });
  });

  test('an inbox of texts only if texts may be scored', () => {
    const onlySnapshots = templateOf({ ...minimal, allow: { types: ['snapshot'] } });

    expect(descriptions(onlySnapshots)).toEqual([
      'Takes snapshots, each a durable execution',
      'Runs jobs of all types',
      'Moves jobs from queues that are turned off',
      'Looks for missing snapshots and a refused token',
      'Writes tables as Parquet',
      'Writes the report and sends digests',
    ]);
    expect(propertiesOf(onlySnapshots, 'AWS::Events::Rule').map(({ Description }) => Description)).toEqual([
      'Runs that are published',
    ]);
  });
});

test('the dead letters of jobs are separate from all others, because only they return to their queue', () => {
  const queues = propertiesOf(large, 'AWS::SQS::Queue').map(({ RedrivePolicy }) =>
    JSON.stringify(RedrivePolicy ?? ''),
  );
  const others = JSON.stringify([
    propertiesOf(large, 'AWS::Lambda::Function').map(({ DeadLetterConfig }) => DeadLetterConfig),
    propertiesOf(large, 'AWS::Events::Rule').map(({ Targets }) => Targets),
    propertiesOf(large, 'AWS::Scheduler::Schedule').map(({ Target }) => Target),
  ]);

  expect(queues.filter((policy) => policy.includes('JobsDeadLetters'))).toHaveLength(3);
  expect(queues.join()).not.toContain('RareDeadLetters');
  expect(others).toContain('RareDeadLetters');
  expect(others).not.toContain('JobsDeadLetters');
});

test('requests in the inbox go to the function that splits them, or to the dead-letter queue', () => {
  small.hasResourceProperties('AWS::Events::Rule', {
    EventPattern: {
      source: ['aws.s3'],
      'detail-type': ['Object Created'],
      detail: { bucket: { name: [Match.anyValue()] }, object: { key: [{ wildcard: 'inbox/*.json' }] } },
    },
    Targets: [
      Match.objectLike({
        DeadLetterConfig: { Arn: Match.anyValue() },
        RetryPolicy: { MaximumRetryAttempts: 24, MaximumEventAgeInSeconds: 86_400 },
      }),
    ],
  });
  small.hasResourceProperties('AWS::Lambda::Function', {
    Description: 'Splits requests from the inbox into jobs',
    DeadLetterConfig: Match.anyValue(),
  });
});

describe('snapshots', () => {
  test('are durable executions of a version, started through its alias', () => {
    small.hasResourceProperties('AWS::Lambda::Function', {
      DurableConfig: { ExecutionTimeout: 23 * 3_600, RetentionPeriodInDays: 30 },
      Timeout: 900,
    });
    // Versions are retained: one that remained after a rolled-back update could not be created again.
    small.hasResource('AWS::Lambda::Version', { UpdateReplacePolicy: 'Retain' });
    small.hasResourceProperties('AWS::Lambda::Alias', { Name: 'live' });
    const [alias] = Object.keys(small.findResources('AWS::Lambda::Alias'));
    small.hasResourceProperties('AWS::Lambda::Function', {
      Description: 'Runs jobs of all types',
      Environment: {
        Variables: Match.objectLike({
          SYNC_SNAPSHOT_FUNCTION: { Ref: alias },
          SYNC_STACK: 'platform-sync-least',
        }),
      },
    });
  });

  test('are queued exactly at their times, one job a night', () => {
    large.hasResourceProperties('AWS::Scheduler::Schedule', {
      ScheduleExpression: 'cron(0 2 * * ? *)',
      ScheduleExpressionTimezone: 'Europe/Berlin',
      FlexibleTimeWindow: { Mode: 'OFF' },
      Target: Match.objectLike({
        DeadLetterConfig: Match.anyValue(),
        Input: Match.serializedJson({
          version: 1,
          type: 'snapshot',
          source: 'calculations',
          accept: ['shrunk'],
          id: 'calculations.<aws.scheduler.scheduled-time>',
        }),
      }),
    });
    // The others check for missing snapshots and unreported publications, write tables, and run a function (two).
    large.resourceCountIs('AWS::Scheduler::Schedule', 11);
  });

  test('are checked every hour if they are expected', () => {
    large.hasResourceProperties('AWS::Scheduler::Schedule', {
      ScheduleExpression: 'cron(0 * * * ? *)',
      Target: Match.objectLike({
        Arn: { 'Fn::GetAtt': [Match.stringLikeRegexp('^ExpectedSnapshotsWatchFunction'), 'Arn'] },
        DeadLetterConfig: Match.anyValue(),
      }),
    });
  });
});

test('the outputs of the stack that `env --stack` reads are exactly the settings of an instance, each once', () => {
  const outputs = Object.values<{ readonly Description?: string }>(large.findOutputs('*'));
  const names = outputs.flatMap(({ Description = '' }) =>
    /^[A-Z_]+$/.test(Description) ? [Description] : [],
  );

  expect(names.toSorted()).toEqual([
    'PLATFORM_BASE_URL',
    'PLATFORM_CONCURRENCY',
    'PLATFORM_LINKS',
    'PLATFORM_PRICES',
    'PLATFORM_RATE',
    'PLATFORM_RATE_CEILING',
    'PLATFORM_TIMEOUT_MS',
    'PLATFORM_TOKEN_HEADER',
    'PLATFORM_TOKEN_SECRET',
    'SYNC_COMPRESSION',
    'SYNC_DEAD_LETTER_URL',
    'SYNC_GATES',
    'SYNC_GLUE_DATABASE',
    'SYNC_QUEUE_URL',
    'SYNC_SNAPSHOT_FUNCTION',
    'SYNC_STACK',
    'SYNC_STORE',
    'SYNC_TABLE',
  ]);
  expect(settingNames).toEqual(expect.arrayContaining(names));
});

describe('the network', () => {
  test('exists only if calls must leave from a fixed address', () => {
    small.resourceCountIs('AWS::EC2::VPC', 0);
    large.resourceCountIs('AWS::EC2::NatGateway', 1);
    large.resourceCountIs('AWS::EC2::EIP', 1);
    large.hasResourceProperties('AWS::EC2::NatGateway', {
      AllocationId: { 'Fn::GetAtt': [Match.anyValue(), 'AllocationId'] },
    });
    large.hasOutput('*', { Description: 'The address to put on the allow-list of the platform' });
    large.allResourcesProperties('AWS::Lambda::Function', { VpcConfig: Match.anyValue() });
  });

  test('allows egress only over TLS, to the platform and to AWS', () => {
    const [group] = propertiesOf(large, 'AWS::EC2::SecurityGroup');

    expect(group?.SecurityGroupEgress).toMatchObject([
      { FromPort: 443, ToPort: 443 },
      { FromPort: 8443, ToPort: 8443 },
    ]);
  });
});

test('digests of a place go to the recipients of all alarms, and only if the place asks for them', () => {
  const [[id] = []] = resourcesOf(large).filter(([, { Type }]) => Type === 'AWS::SNS::Topic');
  const given = 'arn:aws:sns:eu-central-1:111122223333:alarms';
  const looks = propertiesOf(large, 'AWS::Scheduler::Schedule').flatMap(({ ScheduleExpression, Target }) =>
    ScheduleExpression === 'cron(5/10 * * * ? *)' ? [Target.Input] : [],
  );

  expect(id).toMatch(/^AlarmsTopicsTopic[0-9A-F]{8}$/);
  expect(looks).toEqual([
    {
      'Fn::Join': [
        '',
        [
          `{"places":["calculations","calculations.revenue","files.in","cards","cards.few","data-files"],"digests":{"places":["calculations","cards"],"topics":["${given}","`,
          { Ref: id },
          '"]},"scheduledAt":"<aws.scheduler.scheduled-time>"}',
        ],
      ],
    },
  ]);
  large.hasResourceProperties('AWS::IAM::Policy', {
    PolicyDocument: Match.objectLike({
      Statement: Match.arrayWith([
        { Effect: 'Allow', Action: 'sns:Publish', Resource: [given, { Ref: id }] },
      ]),
    }),
  });
  expect(JSON.stringify(small.toJSON())).not.toContain('"sns:Publish"');
});

describe('every function', () => {
  const functions = [
    ...propertiesOf(small, 'AWS::Lambda::Function'),
    ...propertiesOf(large, 'AWS::Lambda::Function'),
  ];

  test('runs on Node.js 24 and arm64, and writes a log that expires', () => {
    expect(functions).toHaveLength(15);
    for (const each of functions)
      expect(each).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        LoggingConfig: { LogGroup: {} },
      });
    small.allResourcesProperties('AWS::Logs::LogGroup', { RetentionInDays: 30 });
    large.allResourcesProperties('AWS::Logs::LogGroup', { RetentionInDays: 90 });
  });

  test('gets an environment that it can start with', () => {
    for (const { Environment } of functions)
      expect(() => readSettings(resolved(Environment.Variables))).not.toThrow();
  });
});

/** The environment as deployed, with stand-ins for values that are known only at deployment. */
const resolved = (variables: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : (STANDS[name] ?? 'name'),
    ]),
  );

const STANDS: Readonly<Record<string, string>> = {
  SYNC_STORE: 's3://bucket',
  SYNC_SNAPSHOT_FUNCTION: 'snapshot:live',
  SYNC_QUEUE_URL: 'https://sqs.eu-central-1.amazonaws.com/1/jobs',
};

test('everything carries the tags of the configuration', () => {
  large.hasResourceProperties('AWS::DynamoDB::Table', {
    Tags: Match.arrayWith([
      { Key: 'cost-center', Value: '4711' },
      { Key: 'platform-sync', Value: 'full' },
    ]),
  });
});

/** Resource types whose names are unique within a role, or are those of another resource. */
const OF_ANOTHER = ['AWS::Lambda::Permission', 'AWS::IAM::Policy'];

test('no resource has a name that another stack could have', () => {
  const names = resourcesOf(large).filter(
    ([, { Type, Properties = {} }]) =>
      Properties[`${Type.split('::')[2]}Name`] !== undefined && !OF_ANOTHER.includes(Type),
  );

  expect(names.map(([id]) => id)).toEqual([]);
});

test('turning a queue off keeps the queue and its jobs: only its poller is removed, and a new poller moves them', () => {
  const on = templateOf({ ...minimal, eventRules: full.eventRules, textsQueue: true });
  const queuesIn = (template: typeof small) =>
    Object.fromEntries(
      Object.entries(template.findResources('AWS::SQS::Queue')).map(([id, { Properties }]) => [
        id,
        Properties,
      ]),
    );
  const moves = (template: typeof small) =>
    propertiesOf(template, 'AWS::Lambda::Function').filter(({ Description }) =>
      String(Description).startsWith('Moves jobs'),
    );

  expect(queuesIn(small)).toEqual(
    JSON.parse(JSON.stringify(queuesIn(on)).replaceAll('"Value":"full"', '"Value":"least"')),
  );
  on.resourceCountIs('AWS::Lambda::EventSourceMapping', 3);
  small.resourceCountIs('AWS::Lambda::EventSourceMapping', 1);
  expect(moves(on)).toEqual([]);
  expect(moves(small)).toHaveLength(1);
});

describe('what a stack leaves behind', () => {
  const deletedBy = (template: typeof small, policy: string) =>
    resourcesOf(template)
      .flatMap(([, resource]) => (Reflect.get(resource, 'DeletionPolicy') === policy ? [resource.Type] : []))
      .sort();

  const stays = ['AWS::Lambda::Version', 'AWS::S3::Bucket', 'AWS::S3::Bucket'];

  test('is an empty, protected table if the first deployment fails, and later only what cannot be created again', () => {
    // A key would cost a dollar a month.
    large.resourceCountIs('AWS::KMS::Key', 0);
    expect(deletedBy(small, 'Retain')).toEqual(['AWS::DynamoDB::Table']);
    small.hasResourceProperties('AWS::DynamoDB::Table', { DeletionProtectionEnabled: true });
    expect(deletedBy(small, 'RetainExceptOnCreate')).toEqual(stays);
    expect(deletedBy(large, 'RetainExceptOnCreate')).toEqual([...stays, 'AWS::EC2::EIP'].sort());
  });

  test('includes the IP address, which another stack can adopt', () => {
    const adopted = templateOf({ ...full, fixedAddress: 'eipalloc-0a1b2c3d4e5f60718' });

    adopted.resourceCountIs('AWS::EC2::EIP', 0);
    adopted.hasResourceProperties('AWS::EC2::NatGateway', { AllocationId: 'eipalloc-0a1b2c3d4e5f60718' });
  });
});

describe('the rights of functions:', () => {
  /** The job types that each function takes. */
  const typesIn = (template: typeof small) =>
    propertiesOf(template, 'AWS::Lambda::Function').flatMap(({ Environment }) => {
      const { SYNC_ALLOW: allow } = Environment.Variables;
      return allow === undefined ? [] : [JSON.parse(allow).types as string[]];
    });

  test('the function of the queue for code functions runs only these, and formulas are changed only if allow permits it', () => {
    const [inLeast, ofFunctions] = typesIn(templateOf({ ...minimal, functionsQueue: true }));

    expect(inLeast).not.toContain('update-formula');
    expect(inLeast).toContain('score');
    expect(ofFunctions).toEqual(['run-function']);
    expect(
      typesIn(
        templateOf({ ...minimal, functionsQueue: true, allow: { types: ['update-formula', 'score'] } }),
      ),
    ).toEqual([['update-formula', 'score'], ['update-formula']]);
  });

  test('other AWS services may act for this account only', () => {
    const statements = resourcesOf(large).flatMap(([id, { Type, Properties }]) => {
      const document = Properties['PolicyDocument'] ?? Properties['AssumeRolePolicyDocument'];
      const { Statement = [] } = (document ?? {}) as { Statement?: { Principal?: { Service?: string } }[] };
      // A function's role needs no such condition: only a principal of this account can pass it to Lambda.
      return Statement.filter(
        ({ Principal }) => ![undefined, 'lambda.amazonaws.com'].includes(Principal?.Service),
      ).map((statement) => ({ of: `${Type} ${id}`, text: JSON.stringify(statement) }));
    });

    expect(statements.length).toBeGreaterThan(5);
    const anyAccount = statements.filter(
      ({ text }) => !text.includes('"aws:SourceAccount":"111122223333"') && !text.includes('aws:SourceArn'),
    );
    expect(anyAccount).toEqual([]);
  });

  test('a query that would read more than 100 GB is stopped, and schedules are in a separate group', () => {
    small.hasResourceProperties('AWS::Athena::WorkGroup', {
      WorkGroupConfiguration: { BytesScannedCutoffPerQuery: 100_000_000_000 },
    });
    large.allResources('AWS::Scheduler::Schedule', {
      Properties: { GroupName: Match.anyValue() },
      DependsOn: Match.arrayWith([Match.stringLikeRegexp('^SchedulesGroup')]),
    });
  });
});

describe.each([
  ['cn-north-1', 'aws-cn', 'console.amazonaws.cn'],
  ['us-gov-west-1', 'aws-us-gov', 'console.amazonaws-us-gov.com'],
])('in %s', (region, partition, domain) => {
  const { slack, topicArn: _, topics: __, ...alarms } = full.alarms;
  const home = {
    ...full,
    region,
    tokenSecretArn: `arn:${partition}:secretsmanager:${region}:111122223333:secret:a-AbCdEf`,
  };
  const readers = [`arn:${partition}:iam::777788889999:role/analysts`];

  test('every ARN has the partition of the region, and every link goes to the console of that partition', () => {
    const text = JSON.stringify(templateOf({ ...home, alarms, readers }).toJSON());

    expect(text.match(/arn:aws:[^"]*/g) ?? []).toEqual([]);
    expect(text).toContain(`https://${region}.${domain}/`);
    expect(text).not.toContain('console.aws.amazon.com');
  });

  test('synth warns that the region may lack durable functions', () => {
    const [stack] = appOf({ ...home, alarms, readers }).node.children.filter(Stack.isStack);

    expect(
      Annotations.fromStack(stack as Stack).findWarning(
        '*',
        Match.stringLikeRegexp(`whether ${region} has them`),
      ),
    ).toHaveLength(1);
  });

  test('synth stops for a missing service, or an ARN of another partition', () => {
    expect(() =>
      appOf({ ...home, alarms: { ...alarms, slack }, readers: ['arn:aws:iam::777788889999:role/a'] }),
    ).toThrow(
      new RegExp(
        [
          `readers\\.0: expected an ARN of ${partition}, like the region of the instance`,
          `alarms\\.slack: expected no slack, since ${partition} has no Amazon Q Developer`,
        ].join('[^]*'),
      ),
    );
  });
});
