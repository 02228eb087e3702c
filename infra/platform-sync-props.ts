import { Aws, RemovalPolicy, Stack, Token } from 'aws-cdk-lib';
import type { IManagedPolicy } from 'aws-cdk-lib/aws-iam';
import { LogGroupClass } from 'aws-cdk-lib/aws-logs';
import type { IConstruct } from 'constructs';
import type { GivenTopics } from './alarm-topics.ts';
import { isToken } from './config-fields.ts';
import { partitionOf } from './config-places.ts';
import type { CompleteSettings, InstanceSettings } from './config-schema.ts';
import { tableFaults } from './given-table.ts';
import type { Given as GivenValue } from './limits-check.ts';
import type { LogSettings } from './log-settings.ts';
import { type GivenNetwork, isIds } from './network.ts';
import type { GivenStorage } from './storage.ts';
import { at, longestOf } from './template-size.ts';
import type { GivenToken } from './token-secret.ts';

/** Existing resources of the surrounding app, and what the app's own rules require of the construct. */
type PlatformSyncResources = GivenStorage &
  GivenNetwork &
  GivenToken & {
    /** Topics that are notified of alarms, by severity (page, ticket, notice), besides those of `alarms`. Default: none. */
    readonly topics?: GivenTopics | undefined;
    /** Encryption key, class and removal policy of all log groups; `lifetimes.logs` is their retention. Default: deleted with the stack. */
    readonly logs?: Omit<LogSettings, 'retention'> | undefined;
    /** The permissions boundary of every role of the construct. Default: none. */
    readonly permissionsBoundary?: IManagedPolicy | undefined;
  };

/** Props that may be names, ARNs or ids, which the settings' schema checks, or resources, which it does not know. */
type Given = keyof GivenToken | keyof GivenStorage | keyof GivenNetwork;

/** The settings of the instance, checked when the construct is created, and existing resources. */
export type PlatformSyncProps = Omit<InstanceSettings, Given> & PlatformSyncResources;

/** `PlatformSyncProps`, or settings whose defaults are filled in. */
export type AnyProps = PlatformSyncProps | (Omit<CompleteSettings, Given> & PlatformSyncResources);

/** Splits the props: those that the schema of the settings checks, and those of CDK. */
export function partsOf(props: AnyProps) {
  const {
    bucket,
    prefix,
    table,
    key,
    vpc,
    subnets,
    securityGroups,
    tokenSecret,
    tokenParameter,
    topics,
    logs,
    permissionsBoundary,
    ...settings
  } = props;
  // Names, ARNs and ids are checked with the settings.
  const named = Object.entries({ prefix, bucket, table, key, vpc, tokenParameter }).filter(
    ([, given]) => typeof given === 'string' || (given !== undefined && given === vpc && isIds(vpc)),
  );
  return {
    settings: { ...settings, ...Object.fromEntries(named) },
    resources: {
      storage: { bucket, table, ...(prefix === undefined ? {} : { prefix: bare(prefix) }) },
      network: { vpc, subnets, securityGroups },
      secret: { tokenSecret, ...(typeof tokenParameter === 'string' ? {} : { tokenParameter }) },
      key,
      topics,
      logs: { removalPolicy: RemovalPolicy.DESTROY, ...logs },
      permissionsBoundary,
    },
  };
}

/** A prefix without slashes at its ends, unless it is a token. */
const bare = (prefix: string) => (isToken(prefix) ? prefix : prefix.replaceAll(/^\/+|\/+$/g, ''));

/** The contradictions in the props, each as a line of a `ConfigError`. */
export function resourceFaults(props: AnyProps, scope: IConstruct): readonly string[] {
  const {
    bucket,
    prefix,
    table,
    key,
    vpc,
    subnets,
    securityGroups,
    tokenSecret,
    tokenSecretArn,
    tokenParameter,
    fixedAddress,
    logs,
  } = props;
  const rules = {
    'prefix: expected none without a bucket': prefix !== undefined && bucket === undefined,
    'key: expected none beside a bucket, a table and a place of the token: each has its own':
      key !== undefined &&
      bucket !== undefined &&
      typeof bucket !== 'string' &&
      table !== undefined &&
      typeof table !== 'string' &&
      [tokenSecret, tokenSecretArn, tokenParameter].some((place) => place !== undefined),
    'logs.logGroupClass: expected STANDARD: the others have no metric filters, and so no alarms':
      (logs?.logGroupClass ?? LogGroupClass.STANDARD) !== LogGroupClass.STANDARD,
    'subnets, securityGroups: expected none without a vpc that is a construct':
      (vpc === undefined || isIds(vpc)) && (subnets !== undefined || securityGroups !== undefined),
    'fixedAddress: expected none beside a vpc: calls leave from its own addresses':
      vpc !== undefined && fixedAddress !== undefined && fixedAddress !== false,
    'tokenSecretArn: expected none beside tokenSecret':
      tokenSecret !== undefined && tokenSecretArn !== undefined,
    'tokenParameter: expected none beside a secret: the token is in one place':
      tokenParameter !== undefined &&
      (tokenSecret !== undefined || (typeof tokenParameter !== 'string' && tokenSecretArn !== undefined)),
  };
  return [
    ...Object.entries(rules).flatMap(([fault, isFault]) => (isFault ? [fault] : [])),
    ...(table === undefined || typeof table === 'string' ? [] : tableFaults(table)),
    ...lackingFaults(props),
    ...aliasFaults(props, Stack.of(scope)),
  ];
}

/** Props that need another prop. */
function lackingFaults({ bucket, encryption, vpc, endpoints = [] }: AnyProps): readonly string[] {
  return [
    ...(encryption !== undefined && bucket === undefined
      ? [
          'encryption: expected none without a bucket: that of the construct is encrypted, with key if there is one',
        ]
      : []),
    ...(endpoints.length > 0 && vpc === undefined ? ['endpoints: expected none without a vpc'] : []),
  ];
}

/** IAM ignores a statement about an alias: only the key itself can be granted. */
function aliasFaults(
  { key, bucket, table, tokenSecret, tokenParameter, tokenKeyArn, formerKeys = [], logs }: AnyProps,
  stack: Stack,
) {
  const keys = {
    key,
    tokenKeyArn,
    'bucket.encryptionKey': at(bucket, 'encryptionKey'),
    'table.encryptionKey': at(table, 'encryptionKey'),
    'tokenSecret.encryptionKey': at(tokenSecret, 'encryptionKey'),
    'tokenParameter.encryptionKey': at(tokenParameter, 'encryptionKey'),
    'logs.encryptionKey': logs?.encryptionKey,
    ...Object.fromEntries(formerKeys.map((each, index) => [`formerKeys.${index}`, each])),
  };
  const isAlias = (each: unknown) =>
    at(each, 'aliasName') !== undefined ||
    (typeof each === 'string' && JSON.stringify(stack.resolve(each)).includes(':alias/'));
  return Object.entries(keys).flatMap(([name, each]) =>
    isAlias(each)
      ? [`${name}: expected the key itself, got an alias, whose ARN IAM ignores in a policy`]
      : [],
  );
}

/** The maximum lengths of the props that are known only at deployment. */
export function givenValues(of: IConstruct, props: AnyProps): readonly GivenValue[] {
  const { bucket, table, key, tokenSecret, tokenParameter, alarms = {}, readers = [] } = props;
  const { region, stackName } = Stack.of(of);
  const ofKind = (type: string, form: 'name' | 'arn', ...values: readonly unknown[]) =>
    values
      .filter((value) => Token.isUnresolved(value))
      .map((value) => ({ of, value, most: longestOf(type, form) }));
  return [
    ...(isToken(stackName) ? [] : [{ of, value: Aws.STACK_NAME, most: stackName.length }]),
    ...(isToken(region) ? [] : [{ of, value: Aws.PARTITION, most: partitionOf(region).length }]),
    ...ofKind('AWS::S3::Bucket', 'name', bucket, at(bucket, 'bucketName')),
    ...ofKind('AWS::S3::Bucket', 'arn', at(bucket, 'bucketArn')),
    ...ofKind('AWS::DynamoDB::Table', 'name', table, at(table, 'tableName')),
    ...ofKind('AWS::DynamoDB::Table', 'arn', at(table, 'tableArn')),
    ...ofKind('AWS::KMS::Key', 'arn', key, at(key, 'keyArn'), props.tokenKeyArn, ...(props.formerKeys ?? [])),
    ...ofKind('AWS::SecretsManager::Secret', 'arn', props.tokenSecretArn, at(tokenSecret, 'secretArn')),
    ...ofKind('AWS::SSM::Parameter', 'name', tokenParameter, at(tokenParameter, 'parameterName')),
    ...ofKind('AWS::SNS::Topic', 'arn', alarms.topicArn, ...Object.values(alarms.topics ?? {})),
    ...ofKind('AWS::IAM::Role', 'arn', ...readers),
  ];
}
