import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, AssetStaging, RemovalPolicy, Stack, type StackProps, Stage } from 'aws-cdk-lib';
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import { Repository } from 'aws-cdk-lib/aws-codecommit';
import { AttributeType, Table, TableEncryptionV2, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { SecurityGroup, SubnetType, Vpc } from 'aws-cdk-lib/aws-ec2';
import { ManagedPolicy } from 'aws-cdk-lib/aws-iam';
import { Alias, Key } from 'aws-cdk-lib/aws-kms';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { LogGroupClass } from 'aws-cdk-lib/aws-logs';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { StringParameter } from 'aws-cdk-lib/aws-ssm';
import { BUNDLING_STACKS } from 'aws-cdk-lib/cx-api';
import { CodePipeline, CodePipelineSource, ShellStep } from 'aws-cdk-lib/pipelines';
import { describe, expect, onTestFinished, test } from 'vitest';
import { lambdaCodeOf } from '../../infra/bundles.ts';
import { ConfigError, PlatformSync, type PlatformSyncProps } from '../../infra/index.ts';
import { readSettings } from '../../lib/settings.ts';
import { filesetId, full, packageId, propertiesOf } from './instances.ts';

const settings = {
  baseUrl: 'https://acme.example.com',
  schedules: [
    { source: 'calculations', cron: '0 2 * * ? *' },
    { source: 'files', filesets: [filesetId], cron: '0 3 * * ? *' },
  ],
  eventRules: [
    { name: 'uploads', pattern: { source: ['mine'] }, packageId, packageVersion: '1.0.0', functionName: 'f' },
  ],
} as const satisfies PlatformSyncProps;

/** An app of a user of the construct, without any feature flags of CDK. */
const appOfOthers = () => new App({ context: { [BUNDLING_STACKS]: [] }, analyticsReporting: false });

const stackOfOthers = (props: StackProps = {}) => new Stack(appOfOthers(), 'theirs', props);

/** The template of a stack with one construct. */
function templateWith(make: (stack: Stack) => Partial<PlatformSyncProps>) {
  const stack = stackOfOthers();
  const sync = new PlatformSync(stack, 'Sync', { ...settings, ...make(stack) });
  return { stack, sync, template: Template.fromStack(stack) };
}

const namesOf = (template: Template, type: string): readonly string[] =>
  propertiesOf(template, type).flatMap(({ Name }) => Name ?? []);

const functionsIn = (template: Template) => propertiesOf(template, 'AWS::Lambda::Function');

function faultsOf(props: object): readonly string[] {
  try {
    new PlatformSync(stackOfOthers(), 'Sync', props as PlatformSyncProps);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

test('an event rule on the bucket that the instance writes to is refused, even if the bucket’s name is known only at deployment', () => {
  const stack = stackOfOthers();
  const bucket = new Bucket(stack, 'Lake');
  const detail = { bucket: { name: [bucket.bucketName] } };
  const [rule] = settings.eventRules;
  const eventRules = [{ ...rule, pattern: { source: ['aws.s3'], detail } }];

  expect(() => new PlatformSync(stack, 'Sync', { ...settings, bucket, eventRules })).toThrow(
    /eventRules\.0.*aws\.s3, Object Created/,
  );
});

describe('several constructs', () => {
  const stack = stackOfOthers();
  const first = new PlatformSync(stack, 'First', settings);
  const second = new PlatformSync(stack, 'Second', { ...settings, name: 'second' });
  const template = Template.fromStack(stack);

  test('in one stack share no name', () => {
    const databases = propertiesOf(template, 'AWS::Glue::Database').map(
      ({ DatabaseInput }) => DatabaseInput.Name,
    );
    for (const names of [
      namesOf(template, 'AWS::Events::Rule'),
      namesOf(template, 'AWS::Athena::WorkGroup'),
      databases,
    ])
      expect(new Set(names).size).toBe(2);
    expect(Object.keys(template.toJSON()['Resources']).filter((id) => !/^(First|Second)/.test(id))).toEqual(
      [],
    );
  });

  test('in one stack report separate metrics, which their own alarms watch', () => {
    const services = functionsIn(template).map(({ Environment }) => Environment.Variables.SYNC_STACK);
    const [ofFirst, ofSecond] = [...new Set(services)] as string[];

    expect(new Set(services).size).toBe(2);
    expect(services).not.toContain('theirs');
    const queryOf = (sync: PlatformSync) =>
      sync.alarms['Ticket']?.metric.toMetricConfig().mathExpression?.expression;
    expect(queryOf(first)).toContain(`"platform-sync/${ofFirst}"`);
    expect(queryOf(second)).toContain(`"platform-sync/${ofSecond}"`);
    expect(ofFirst).toMatch(/First/);
    expect(ofSecond).toMatch(/Second/);
    const queries = namesOf(template, 'AWS::Logs::QueryDefinition');
    expect(new Set(queries).size).toBe(queries.length);
    for (const { Environment } of functionsIn(template))
      expect(Environment.Variables.SYNC_STACK).toMatch(/^[A-Za-z][A-Za-z0-9-]{0,127}$/);
  });

  test('in one stack have separate tags and outputs', () => {
    const tags = JSON.stringify(template.findResources('AWS::DynamoDB::Table'));

    expect(tags).toContain('"Value":"second"');
    expect(Object.keys(template.findOutputs('*')).filter((name) => name.includes('Store'))).toEqual([
      expect.stringMatching(/^FirstStore/),
      expect.stringMatching(/^SecondStore/),
    ]);
  });

  test('in two stacks of one app, or under the id Default, share no name', () => {
    const app = appOfOthers();
    const stacks = ['one', 'two'].flatMap((name) => {
      const each = new Stack(app, name);
      const inner = new Stack(each, 'Inner');
      new PlatformSync(each, 'Sync', settings);
      new PlatformSync(inner, 'Default', settings);
      return [each, inner];
    });

    const templates = stacks.map((each) => Template.fromStack(each));
    const rules = templates.flatMap((each) => namesOf(each, 'AWS::Events::Rule'));
    const services = templates.flatMap((each) => functionsIn(each)[0]?.['Environment'].Variables.SYNC_STACK);
    expect(new Set(rules).size).toBe(4);
    expect(new Set(services).size).toBe(4);
    expect(services).toContain(stacks[1]?.stackName);
  });
});

test('the construct works in a stage of a pipeline', () => {
  const app = appOfOthers();
  const pipelineStack = new Stack(app, 'pipeline', {
    env: { account: '111122223333', region: 'eu-central-1' },
  });
  const source = CodePipelineSource.codeCommit(
    Repository.fromRepositoryName(pipelineStack, 'Repository', 'theirs'),
    'main',
  );
  const pipeline = new CodePipeline(pipelineStack, 'Pipeline', {
    synth: new ShellStep('Synth', { input: source, commands: ['npx cdk synth'] }),
  });
  const stage = new Stage(app, 'Production', { env: { account: '111122223333', region: 'eu-central-1' } });
  const stack = new Stack(stage, 'sync');
  new PlatformSync(stack, 'Sync', { ...settings, tokenSecretArn: full.tokenSecretArn });

  pipeline.addStage(stage);
  const template = Template.fromStack(stack);

  expect(Template.fromStack(pipelineStack).findResources('AWS::CodePipeline::Pipeline')).not.toEqual({});
  expect(stage.synth().manifest.missing).toBeUndefined();
  for (const { Environment } of functionsIn(template))
    expect(Environment.Variables.SYNC_STACK).toMatch(/^Production-sync-Sync/);
});

describe('the settings of the construct', () => {
  test('must not contradict each other if they name existing resources', () => {
    const vpc = { vpcId: 'vpc-1' } as object;

    expect(faultsOf({ ...settings, prefix: 'a' })).toEqual(['prefix: allowed only with a bucket']);
    expect(faultsOf({ ...settings, subnets: {}, rate: -1 })).toHaveLength(2);
    expect(faultsOf({ ...settings, vpc, fixedAddress: true })).toHaveLength(1);
    const { tokenSecretArn } = full;
    const given = { bucket: {}, table: { node: {} }, key: {} };
    expect(faultsOf({ ...settings, ...given, tokenSecretArn })).toEqual([
      'key: not used, since the given bucket, table and token have their own keys: remove it',
    ]);
    for (const token of [
      { tokenSecret: {}, tokenSecretArn },
      { tokenSecret: {}, tokenParameter: {} },
      { tokenSecret: {}, tokenParameter: '/acme/token' },
      { tokenSecretArn, tokenParameter: {} },
      { tokenSecretArn, tokenParameter: '/acme/token' },
      { tokenParameter: 'acme/token' },
    ])
      expect(faultsOf({ ...settings, ...token })).toHaveLength(1);
    for (const prefix of ['', '/', 'a*', 'a//b', '../a', 'a?b', `a\${b}`])
      expect(faultsOf({ ...settings, bucket: {}, prefix })).toHaveLength(1);
  });

  test('may name only resources in the region of the stack', () => {
    const stack = stackOfOthers({ env: { account: '444455556666', region: 'eu-west-1' } });

    expect(
      () => new PlatformSync(stack, 'Sync', { ...settings, tokenSecretArn: full.tokenSecretArn }),
    ).toThrow('tokenSecretArn: expected a secret in eu-west-1');
  });

  test('may name resources of a central account; a warning says what their policies must allow', () => {
    const stack = stackOfOthers({ env: { account: '444455556666', region: 'eu-central-1' } });

    new PlatformSync(stack, 'Sync', {
      ...settings,
      key: KEY_ARN,
      tokenSecretArn: full.tokenSecretArn,
      tokenKeyArn: KEY_ARN,
      alarms: { topicArn: full.alarms.topicArn },
    });

    Annotations.fromStack(stack).hasWarning(
      '*',
      Match.stringLikeRegexp(
        '^tokenSecretArn, tokenKeyArn, key, alarms.topicArn: these resources are not in the account',
      ),
    );
    Template.fromStack(stack).hasResourceProperties('AWS::CloudWatch::Alarm', {
      AlarmActions: [full.alarms.topicArn],
    });
  });

  test('accept a key, but no alias, because an IAM policy cannot name an alias', () => {
    const stack = stackOfOthers();
    const [imported, own] = [
      Alias.fromAliasName(stack, 'Imported', 'alias/theirs'),
      new Alias(stack, 'Own', { aliasName: 'alias/own', targetKey: new Key(stack, 'Target') }),
    ];
    const bucket = Bucket.fromBucketAttributes(stack, 'Given', {
      bucketName: 'their-bucket',
      encryptionKey: imported,
    });
    let made = 0;
    const faultOf = (props: Partial<PlatformSyncProps>) => {
      made += 1;
      try {
        new PlatformSync(stack, `Sync${made}`, { ...settings, ...props });
        return 'none';
      } catch (error) {
        return String(error);
      }
    };
    const fault = ': expected the key itself, got an alias';

    expect(faultOf({ key: imported })).toContain(`key${fault}`);
    expect(faultOf({ key: own })).toContain(`key${fault}`);
    expect(faultOf({ key: imported.keyArn })).toContain(`key${fault}`);
    expect(faultOf({ formerKeys: [imported.keyArn] })).toContain(`formerKeys.0${fault}`);
    expect(faultOf({ bucket })).toContain(`bucket.encryptionKey${fault}`);
    expect(faultOf({ logs: { encryptionKey: imported } })).toContain(`logs.encryptionKey${fault}`);
    expect(faultOf({ key: new Key(stack, 'Fine') })).toBe('none');
  });

  test('accept only a log class that has metric filters, because alarms depend on them', () => {
    const logGroupClass = LogGroupClass.INFREQUENT_ACCESS;

    expect(faultsOf({ ...settings, logs: { logGroupClass } })).toEqual([
      'logs.logGroupClass: expected STANDARD, since other classes have no metric filters and so no alarms',
    ]);
  });
});

describe('an existing bucket', () => {
  const { stack, sync, template } = templateWith((theirs) => ({
    bucket: Bucket.fromBucketName(theirs, 'Given', 'their-bucket'),
    prefix: '/teams/acme/',
  }));

  test('is used below the prefix only', () => {
    template.resourceCountIs('AWS::S3::Bucket', 0);
    expect(stack.resolve(sync.location)).toBe('s3://their-bucket/teams/acme');
    for (const { Environment } of functionsIn(template)) {
      expect(Environment.Variables.SYNC_STORE).toBe('s3://their-bucket/teams/acme');
      const { SYNC_STORE: store } = readSettings({ ...plain, SYNC_STORE: Environment.Variables.SYNC_STORE });
      expect(store).toBe('s3://their-bucket/teams/acme');
    }
    const locations = propertiesOf(template, 'AWS::Glue::Table').flatMap(
      ({ TableInput }) => TableInput.StorageDescriptor.Location ?? [],
    );
    expect(locations).toContain('s3://their-bucket/teams/acme/parquet/calculations/');
    template.hasResourceProperties('AWS::Events::Rule', {
      EventPattern: Match.objectLike({
        detail: {
          bucket: { name: ['their-bucket'] },
          object: { key: [{ wildcard: 'teams/acme/inbox/*.json' }] },
        },
      }),
    });
  });

  test('may not be read, listed or written outside the prefix', () => {
    const statements = propertiesOf(template, 'AWS::IAM::Policy')
      .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
      .filter(({ Action }) => [Action].flat().some((action: string) => action.startsWith('s3:')));

    expect(statements.length).toBeGreaterThan(8);
    for (const { Action, Resource, Condition } of statements)
      if (Action === 's3:ListBucket')
        expect(Condition).toEqual({ StringLike: { 's3:prefix': 'teams/acme/*' } });
      else
        for (const resource of [Resource].flat())
          expect(JSON.stringify(resource)).toContain(':s3:::their-bucket/teams/acme/');
  });

  test('keeps its settings, and a warning says which are expected', () => {
    const warnings = Annotations.fromStack(stack)
      .findWarning('*', Match.stringLikeRegexp('you manage the settings of the bucket'))
      .map(({ entry }) => String(entry.data));

    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('notifications to EventBridge');
    expect(warnings[0]).toContain('teams/acme/work/ 30 days');
  });
});

const plain = { PLATFORM_BASE_URL: settings.baseUrl, PLATFORM_TOKEN: 'token' };

test('an existing table is used instead of a table of the construct', () => {
  const { template } = templateWith((stack) => ({ table: Table.fromTableName(stack, 'Left', 'left-table') }));

  template.resourceCountIs('AWS::DynamoDB::Table', 0);
  for (const { Environment } of functionsIn(template))
    expect(Environment.Variables.SYNC_TABLE).toBe('left-table');
});

describe('a table that the app defines', () => {
  const keys = (sortKey: string) => ({
    partitionKey: { name: 'pk', type: AttributeType.STRING },
    sortKey: { name: sortKey, type: AttributeType.STRING },
  });
  const kinds = [
    [
      'Table',
      (stack: Stack, sortKey: string, encryptionKey?: Key) =>
        new Table(stack, 'Theirs', { ...keys(sortKey), encryptionKey }),
    ],
    [
      'TableV2',
      (stack: Stack, sortKey: string, key?: Key) =>
        new TableV2(stack, 'Theirs', {
          ...keys(sortKey),
          encryption: key && TableEncryptionV2.customerManagedKey(key),
        }),
    ],
  ] as const;

  test.each(kinds)('must have the keys that rows need, or synth stops: %s', (_, make) => {
    expect(() => templateWith((stack) => ({ table: make(stack, 'id') }))).toThrow(
      'table: expected the keys pk (HASH, S) and sk (RANGE, S), got pk (HASH, S) and id (RANGE, S)',
    );
  });

  test.each(kinds)('lets the roles that use its rows use its key, through DynamoDB only: %s', (_, make) => {
    const stack = stackOfOthers({ env: { account: '111122223333', region: 'eu-central-1' } });
    const table = make(stack, 'sk', new Key(stack, 'Key'));
    new PlatformSync(stack, 'Sync', { ...settings, table });
    const template = Template.fromStack(stack);

    const of = keyUsesIn(template);
    expect([...of.keys()].sort()).toEqual([
      'SyncExpectedSnapshotsWatchRole',
      'SyncJobsRunFunctionsRole',
      'SyncJobsRunJobsRole',
      'SyncPoliciesOperator',
      'SyncSnapshotsSnapshotRole',
      'SyncTextsSplitTextsRole',
    ]);
    for (const uses of of.values()) expect(uses).toEqual([ROWS_ALLOW]);
  });
});

const ROWS_ALLOW = 'dynamodb: Decrypt DescribeKey Encrypt GenerateDataKey ReEncryptFrom ReEncryptTo';

/** The permissions of roles and policies on keys: the service through which each uses the key, and the actions. */
function keyUsesIn(template: Template): ReadonlyMap<string, readonly string[]> {
  const all = ['AWS::IAM::Policy', 'AWS::IAM::ManagedPolicy'].flatMap((type) =>
    Object.entries(template.findResources(type)),
  );
  const uses = all.map(([id, { Properties }]) => {
    const { Statement } = Properties.PolicyDocument as {
      readonly Statement: readonly { readonly Action: string | string[]; readonly Condition?: object }[];
    };
    const ofKeys = Statement.filter(({ Action }) => [Action].flat().some((each) => each.startsWith('kms:')));
    return [
      id.replace(/(Default|DefaultPolicy)?[0-9A-F]{8}$/, ''),
      ofKeys
        .map(({ Action, Condition }) => {
          const [, service = 'any'] =
            /ViaService":.*?"?(s3|dynamodb)\./.exec(JSON.stringify(Condition)) ?? [];
          return `${service}: ${[Action].flat().sort().join(' ').replaceAll('kms:', '')}`;
        })
        .sort(),
    ] as const;
  });
  return new Map(uses.filter(([, of]) => of.length > 0));
}

describe('two instances', () => {
  const bucketOf = (stack: Stack) => Bucket.fromBucketName(stack, 'Shared', 'their-bucket');

  test('may share a bucket if their prefixes differ', () => {
    const stack = stackOfOthers();
    const bucket = bucketOf(stack);
    new PlatformSync(stack, 'One', { ...settings, bucket, prefix: 'one' });

    expect(() => new PlatformSync(stack, 'Two', { ...settings, bucket, prefix: 'two' })).not.toThrow();
    expect(() => new PlatformSync(stack, 'Three', { ...settings, bucket, prefix: '/two/' })).toThrow(
      'prefix: expected a folder that no other instance has, got the folder of',
    );
  });

  test('may have the same stack name only in different regions or accounts', () => {
    const app = new App();
    const stackIn = (id: string, region: string) =>
      new Stack(app, id, { stackName: 'sync', env: { account: '111122223333', region } });
    new PlatformSync(stackIn('One', 'eu-west-1'), 'Default', settings);

    expect(() => new PlatformSync(stackIn('Two', 'eu-west-2'), 'Default', settings)).not.toThrow();
    expect(() => new PlatformSync(stackIn('Three', 'eu-west-1'), 'Default', settings)).toThrow(
      'stackName: expected a name that no other instance has, got the name of One/Default',
    );
  });
});

describe('an existing network', () => {
  const isolated = (stack: Stack) => ({
    vpc: new Vpc(stack, 'Vpc', { natGateways: 0 }),
    subnets: { subnetType: SubnetType.PRIVATE_ISOLATED },
  });

  test('contains the functions in the given subnets, and the construct adds no way out to it', () => {
    const { template } = templateWith(isolated);

    template.resourceCountIs('AWS::EC2::VPC', 1);
    template.resourceCountIs('AWS::EC2::NatGateway', 0);
    template.resourceCountIs('AWS::EC2::EIP', 0);
    template.resourceCountIs('AWS::EC2::SecurityGroup', 1);
    for (const { VpcConfig } of functionsIn(template)) {
      expect(JSON.stringify(VpcConfig.SubnetIds)).toContain('VpcIsolatedSubnet1');
      expect(JSON.stringify(VpcConfig.SecurityGroupIds)).toContain('SyncNetworkFunctions');
    }
  });

  test('may be given with security groups', () => {
    const { template } = templateWith((stack) => ({
      ...isolated(stack),
      securityGroups: [SecurityGroup.fromSecurityGroupId(stack, 'Given', 'sg-0a1b2c3d')],
    }));

    template.resourceCountIs('AWS::EC2::SecurityGroup', 0);
    for (const { VpcConfig } of functionsIn(template))
      expect(VpcConfig.SecurityGroupIds).toEqual(['sg-0a1b2c3d']);
  });
});

test('no role may do more than the permissions boundary allows', () => {
  const { template } = templateWith((stack) => ({
    permissionsBoundary: ManagedPolicy.fromManagedPolicyName(stack, 'Boundary', 'at-most'),
    // The function that empties buckets is outside the construct.
    removal: 'destroy',
    tags: { team: 'a' },
  }));

  const roles = propertiesOf(template, 'AWS::IAM::Role');
  expect(template.findResources('AWS::IAM::Role')).toHaveProperty(
    'CustomS3AutoDeleteObjectsCustomResourceProviderRole3B1BD092',
  );
  expect(roles.length).toBeGreaterThan(4);
  for (const { PermissionsBoundary, Tags } of roles) {
    expect(JSON.stringify(PermissionsBoundary)).toContain('policy/at-most');
    expect(Tags).toContainEqual({ Key: 'team', Value: 'a' });
  }
  for (const { Tags } of functionsIn(template)) expect(Tags).toContainEqual({ Key: 'team', Value: 'a' });
});

test('data that former keys encrypted can still be read, and `formerKeys` must name them before the key is changed', () => {
  const [former, key] = ['1', '2'].map((id) => `arn:aws:kms:eu-central-1:111122223333:key/${id}`);
  const { stack, template } = templateWith(() => ({
    key,
    formerKeys: [former ?? ''],
    tokenParameter: '/acme/token',
  }));
  const readsBy = (use: (policy: string) => boolean) =>
    Object.entries({
      ...template.findResources('AWS::IAM::Policy'),
      ...template.findResources('AWS::IAM::ManagedPolicy'),
    })
      .filter(([, { Properties }]) => use(JSON.stringify(Properties.PolicyDocument)))
      .map(([id]) => id.replace(/(Default|DefaultPolicy)?[0-9A-F]{8}$/, ''))
      .sort();

  // Everything that reads objects or rows, including the policies of people.
  expect(readsBy((policy) => policy.includes('key/1"'))).toEqual(
    readsBy(
      (policy) =>
        policy.includes('s3:GetObject"') || policy.includes('dynamodb:') || policy.includes('s3:PutObject"'),
    ),
  );
  expect(readsBy((policy) => policy.includes('key/1"'))).toContain('SyncPoliciesReader');
  const statements = propertiesOf(template, 'AWS::IAM::ManagedPolicy').flatMap(
    ({ PolicyDocument }) => PolicyDocument.Statement,
  );
  const ofFormer = statements.filter(({ Resource }) => JSON.stringify(Resource).includes('key/1"'));
  for (const { Action } of ofFormer) expect(Action).toBe('kms:Decrypt');
  template.hasResourceProperties('AWS::IAM::Policy', {
    PolicyDocument: {
      Statement: Match.arrayWith([
        Match.objectLike({
          Resource: former,
          Condition: { StringEquals: { 'kms:EncryptionContext:PARAMETER_ARN': Match.anyValue() } },
        }),
      ]),
    },
  });
  Annotations.fromStack(stack).hasInfo('*', Match.stringLikeRegexp('add its ARN to formerKeys'));
});

const KEY_ARN = 'arn:aws:kms:eu-central-1:111122223333:key/1';
const givenKey = (stack: Stack) => Key.fromKeyArn(stack, 'Key', KEY_ARN);

test.each([
  [
    'secret',
    (stack: Stack) => ({
      tokenSecret: Secret.fromSecretAttributes(stack, 'Given', {
        secretPartialArn: 'arn:aws:secretsmanager:eu-central-1:111122223333:secret:acme/token',
        encryptionKey: givenKey(stack),
      }),
    }),
    {
      Action: 'secretsmanager:GetSecretValue',
      Resource: 'arn:aws:secretsmanager:eu-central-1:111122223333:secret:acme/token-??????',
    },
    { StringLike: { 'kms:EncryptionContext:SecretARN': Match.stringLikeRegexp('acme/token-\\?{6}$') } },
  ],
  [
    'parameter',
    (stack: Stack) => ({
      tokenParameter: StringParameter.fromSecureStringParameterAttributes(stack, 'Given', {
        parameterName: '/acme/token',
        encryptionKey: givenKey(stack),
      }),
    }),
    { Action: 'ssm:GetParameter' },
    { StringEquals: { 'kms:EncryptionContext:PARAMETER_ARN': Match.anyValue() } },
  ],
])(
  'an existing %s is read with its key, whether an ARN or a name identifies it',
  (_, given, reads, Condition) => {
    const { template } = templateWith(given);

    template.resourceCountIs('AWS::SecretsManager::Secret', 0);
    template.hasResourceProperties('AWS::IAM::Policy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike(reads),
          Match.objectLike({ Action: 'kms:Decrypt', Resource: KEY_ARN, Condition }),
        ]),
      },
    });
  },
);

describe('a key of the app', () => {
  const writes = 's3: Decrypt GenerateDataKey';
  const ofBucket = {
    SyncExpectedSnapshotsWatchRole: [writes],
    SyncJobsRunFunctionsRole: [writes],
    SyncJobsRunJobsRole: [writes],
    SyncPoliciesOperator: [writes],
    SyncPoliciesReader: [writes],
    SyncPoliciesSubmitter: [writes],
    SyncReportsWriteRole: [writes],
    SyncSnapshotsSnapshotRole: [writes],
    SyncTablesWriteRole: [writes],
    SyncTextsSplitTextsRole: [writes],
  };

  test('encrypts bucket, table and secret, and each role may use it only for its work there', () => {
    const { template } = templateWith((stack) => ({ key: new Key(stack, 'Key') }));

    template.hasResourceProperties('AWS::S3::Bucket', {
      BucketEncryption: {
        ServerSideEncryptionConfiguration: [
          { BucketKeyEnabled: true, ServerSideEncryptionByDefault: { SSEAlgorithm: 'aws:kms' } },
        ],
      },
    });
    template.hasResourceProperties('AWS::DynamoDB::Table', { SSESpecification: { SSEType: 'KMS' } });
    template.hasResourceProperties('AWS::SecretsManager::Secret', { KmsKeyId: Match.anyValue() });
    const uses = keyUsesIn(template);
    expect(uses.get('SyncReportsWriteRole')).toEqual([writes]);
    expect(uses.get('SyncJobsRunJobsRole')).toEqual(['any: Decrypt', ROWS_ALLOW, writes].sort());
  });

  test('may be used only through S3 and only for objects of the existing bucket, if it is the bucket’s key', () => {
    const { template } = templateWith((stack) => ({
      bucket: Bucket.fromBucketAttributes(stack, 'Given', {
        bucketName: 'their-bucket',
        encryptionKey: givenKey(stack),
      }),
    }));

    expect(Object.fromEntries(keyUsesIn(template))).toEqual(ofBucket);
  });
});

test('logs are encrypted and retained as the app asks', () => {
  const { template } = templateWith((stack) => ({
    logs: { encryptionKey: new Key(stack, 'Key'), removalPolicy: RemovalPolicy.RETAIN },
    lifetimes: { logs: 400 },
  }));

  template.allResourcesProperties('AWS::Logs::LogGroup', {
    RetentionInDays: 400,
    KmsKeyId: Match.anyValue(),
  });
  template.allResources('AWS::Logs::LogGroup', { DeletionPolicy: 'Retain' });
});

test('the construct exposes the resources that other constructs build on', () => {
  const { sync } = templateWith(() => ({ functionsQueue: true }));

  expect(Object.keys(sync.queues)).toEqual(['jobs', 'deadLetters', 'rareDeadLetters', 'functions']);
  expect(Object.keys(sync.functions)).toEqual([
    'runJobs',
    'runFunctions',
    'splitTexts',
    'watchSnapshots',
    'writeTables',
    'writeReport',
    'moveJobs',
    'snapshot',
  ]);
  expect(sync.alarms['Page']?.alarmArn).toBeDefined();
  expect(sync.bucket.bucketArn).toBeDefined();
  expect(sync.table.tableArn).toBeDefined();
});

describe('a Lambda function', () => {
  const folderWith = (file: string) => {
    const folder = mkdtempSync(join(tmpdir(), 'platform-sync-built-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    mkdirSync(join(folder, 'some'));
    writeFileSync(join(folder, 'some', file), 'export const handler = () => 1;');
    return folder;
  };

  test('whose bundle was built before is deployed unchanged', () => {
    const folder = folderWith('index.mjs');
    const stack = new Stack(new App({ analyticsReporting: false }), 'built');

    const { s3Location } = lambdaCodeOf('some', folder).bind(stack);

    expect(s3Location).toBeDefined();
    const [staged] = stack.node.findAll().filter((each) => each instanceof AssetStaging);
    expect(readdirSync(staged?.absoluteStagedPath ?? '')).toEqual(['index.mjs']);
    expect(lambdaCodeOf('some', folder)).toBeInstanceOf(Code);
  });

  test('with neither source nor bundle is an error', () => {
    expect(() => lambdaCodeOf('some', folderWith('other.mjs'))).toThrow(
      'functions/some: expected index.mjs or handler.ts, got neither',
    );
  });
});
