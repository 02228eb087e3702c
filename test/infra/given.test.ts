import { Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from 'vitest';
import { ConfigError, readConfig } from '../../infra/config.ts';
import { PlatformSync } from '../../infra/index.ts';
import { appOf, minimal, propertiesOf, resourcesOf, templateOf, within } from './instances.ts';

const template = templateOf(within);

describe('an existing resource, by its name or id in cdk.json,', () => {
  test('is used without a lookup: bucket, folder, network', () => {
    template.resourceCountIs('AWS::S3::Bucket', 0);
    template.resourceCountIs('AWS::EC2::VPC', 0);
    template.resourceCountIs('AWS::EC2::SecurityGroup', 0);
    for (const { VpcConfig, Environment } of propertiesOf(template, 'AWS::Lambda::Function')) {
      expect(VpcConfig).toEqual({
        SubnetIds: within.vpc.subnets,
        SecurityGroupIds: within.vpc.securityGroups,
      });
      expect(Environment.Variables.SYNC_STORE).toBe('s3://their-bucket/teams/acme');
    }
  });

  test('may be the key of the table, of the secret and of the bucket', () => {
    template.hasResourceProperties('AWS::DynamoDB::Table', {
      SSESpecification: { SSEType: 'KMS', KMSMasterKeyId: within.key },
    });
    template.hasResourceProperties('AWS::SecretsManager::Secret', { KmsKeyId: within.key });
    template.hasResourceProperties('AWS::IAM::ManagedPolicy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({ Action: ['kms:Decrypt', 'kms:GenerateDataKey'], Resource: within.key }),
        ]),
      },
    });
  });

  test('may be a network: if no security group is named, one is created that allows egress for TLS', () => {
    const { securityGroups: _, ...vpc } = within.vpc;

    templateOf({ ...within, vpc }).hasResourceProperties('AWS::EC2::SecurityGroup', {
      VpcId: 'vpc-0a1b2c3d4e5f60718',
      SecurityGroupEgress: [Match.objectLike({ FromPort: 443, ToPort: 443 })],
    });
  });

  test.each([
    [{ bucket: 'Not_A_Bucket' }, 'bucket: expected the name of a bucket'],
    [{ prefix: 'a' }, 'prefix: allowed only with a bucket'],
    [{ bucket: 'b-1', prefix: '../a' }, 'prefix: expected folders of'],
    [{ key: 'alias/mine' }, 'key: expected the ARN of a KMS key'],
    [{ ...within, region: 'us-east-1' }, 'key: expected a key in us-east-1'],
    [{ vpc: { id: 'vpc-0a1b2c3d' } }, 'vpc.subnets: expected a list of ids of subnets'],
    [{ vpc: within.vpc, fixedAddress: true }, 'fixedAddress: not allowed with a vpc'],
    [{ removal: 'keep' }, 'removal: expected retain, protect or destroy'],
    [{ canaryMinutes: 7 }, 'canaryMinutes: expected 5, 10, 15 or 30, got 7'],
  ])('causes a fault if the name or id is wrong: %j', (wrong, fault) => {
    expect(() => appOf({ ...minimal, ...wrong })).toThrow(ConfigError);
    expect(() => appOf({ ...minimal, ...wrong })).toThrow(fault);
  });
});

describe('removing the stack', () => {
  const policiesOf = (instance: object, type: string) =>
    Object.values(templateOf(instance).findResources(type)).map(({ DeletionPolicy }) => DeletionPolicy);
  const trial = { ...minimal, removal: 'destroy' };

  test('with `destroy` leaves nothing: buckets are emptied, and bucket, table and address are deleted', () => {
    const [functions] = [templateOf(trial).findResources('Custom::S3AutoDeleteObjects')];

    expect(policiesOf(trial, 'AWS::S3::Bucket')).toEqual(['Delete', 'Delete']);
    expect(policiesOf(trial, 'AWS::DynamoDB::Table')).toEqual(['Delete']);
    expect(policiesOf({ ...trial, fixedAddress: true }, 'AWS::EC2::EIP')).toEqual(['Delete']);
    expect(Object.keys(functions ?? {})).toHaveLength(2);
  });

  test('with `protect` is refused for the table, the bucket and the stack', () => {
    const protectedOne = { ...minimal, removal: 'protect' };
    const [stack] = appOf(protectedOne).node.children.filter(Stack.isStack);
    const template = templateOf(protectedOne);

    template.hasResourceProperties('AWS::DynamoDB::Table', { DeletionProtectionEnabled: true });
    template.hasResourceProperties('AWS::S3::BucketPolicy', {
      PolicyDocument: {
        Statement: Match.arrayWith([Match.objectLike({ Effect: 'Deny', Action: 's3:DeleteBucket' })]),
      },
    });
    expect(stack?.terminationProtection).toBe(true);
    expect(policiesOf(protectedOne, 'AWS::S3::Bucket')).toEqual([
      'RetainExceptOnCreate',
      'RetainExceptOnCreate',
    ]);
  });
});

describe('the setting `canaryMinutes`', () => {
  const idOf = (start: string, type: string) =>
    resourcesOf(template).find(([id, { Type }]) => Type === type && id.startsWith(start))?.[0] ?? '';

  test('makes each queue invoke an alias, which CodeDeploy moves to a new version, and back if an alarm goes off', () => {
    template.resourceCountIs('AWS::CodeDeploy::DeploymentGroup', 2);
    template.allResourcesProperties('AWS::CodeDeploy::DeploymentGroup', {
      DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent10Minutes',
      AlarmConfiguration: { Enabled: true },
      AutoRollbackConfiguration: {
        Enabled: true,
        Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_ALARM'],
      },
    });
    const mappings = propertiesOf(template, 'AWS::Lambda::EventSourceMapping');
    expect(mappings).toHaveLength(2);
    for (const { FunctionName } of mappings) expect(JSON.stringify(FunctionName)).toContain('":live"');
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      MetricName: 'Errors',
      Dimensions: Match.arrayWith([
        {
          Name: 'ExecutedVersion',
          Value: { 'Fn::GetAtt': [idOf('JobsRunJobs', 'AWS::Lambda::Version'), 'Version'] },
        },
      ]),
    });
  });

  test('does the same for the queue of texts', () => {
    const template = templateOf({ ...within, textsQueue: true });

    template.resourceCountIs('AWS::CodeDeploy::DeploymentGroup', 3);
    for (const { FunctionName } of propertiesOf(template, 'AWS::Lambda::EventSourceMapping'))
      expect(JSON.stringify(FunctionName)).toContain('":live"');
  });

  test('does not affect the alias of snapshots, because a run ends on the version that it began on', () => {
    const alias = idOf('SnapshotsLive', 'AWS::Lambda::Alias');

    expect(template.toJSON().Resources[alias]).not.toHaveProperty('UpdatePolicy');
    for (const { Environment } of propertiesOf(template, 'AWS::Lambda::Function'))
      expect([undefined, JSON.stringify({ Ref: alias })]).toContain(
        JSON.stringify(Environment.Variables.SYNC_SNAPSHOT_FUNCTION),
      );
  });
});

test('an existing table is used by its name', () => {
  const template = templateOf({ ...within, table: 'their-table' });

  template.resourceCountIs('AWS::DynamoDB::Table', 0);
  for (const { Environment } of propertiesOf(template, 'AWS::Lambda::Function'))
    expect(Environment.Variables.SYNC_TABLE).toBe('their-table');
});

test('the construct accepts the same names and ids as cdk.json', () => {
  const { account: _, region: __, ...settings } = readConfig({ instances: [within] })[0] ?? within;
  const stack = new Stack(appOf(minimal), 'theirs', {
    env: { account: '111122223333', region: 'eu-central-1' },
  });

  new PlatformSync(stack, 'Sync', { ...minimal, ...(settings as object) });

  Template.fromStack(stack).resourceCountIs('AWS::S3::Bucket', 0);
});
