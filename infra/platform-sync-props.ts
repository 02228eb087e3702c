import { Aws, RemovalPolicy, Stack, Token } from 'aws-cdk-lib';
import type { IManagedPolicy } from 'aws-cdk-lib/aws-iam';
import { LogGroupClass } from 'aws-cdk-lib/aws-logs';
import type { IConstruct } from 'constructs';
import type { ExistingTopics } from './alarm-topics.ts';
import { partitionOf } from './config-arns.ts';
import { isToken } from './config-fields.ts';
import type { CompleteSettings, InstanceSettings } from './config-schema.ts';
import { tableFaults } from './given-table.ts';
import type { ValueLength } from './limits-check.ts';
import type { LogSettings } from './log-settings.ts';
import { type ExistingNetwork, isIds } from './network.ts';
import type { ExistingStorage } from './storage.ts';
import { at, longestOf } from './template-size.ts';
import type { ExistingToken } from './token-secret.ts';

/** Existing resources of the surrounding app, and settings of all roles and log groups that the app may require. */
type PlatformSyncResources = ExistingStorage &
  ExistingNetwork &
  ExistingToken & {
    /**
     * Topics that are notified of alarms, by severity (page, ticket, notice), besides the topics in `alarms`. Default:
     * none.
     */
    readonly topics?: ExistingTopics | undefined;
    /**
     * Encryption key, class and removal policy of all log groups; `lifetimes.logs` is their retention. Default: deleted
     * with the stack.
     */
    readonly logs?: Omit<LogSettings, 'retention'> | undefined;
    /** The permissions boundary of every role of the construct. Default: none. */
    readonly permissionsBoundary?: IManagedPolicy | undefined;
  };

/** Props that are either names, ARNs or ids, which the settings' schema checks, or constructs. */
type ResourceProp = keyof ExistingToken | keyof ExistingStorage | keyof ExistingNetwork;

/** The settings of the instance, checked when the construct is created, and existing resources. */
export type PlatformSyncProps = Omit<InstanceSettings, ResourceProp> & PlatformSyncResources;

/** `PlatformSyncProps`, or settings whose defaults are filled in. */
export type AnyProps = PlatformSyncProps | (Omit<CompleteSettings, ResourceProp> & PlatformSyncResources);

/** Splits the props into settings, which their schema checks, and constructs of CDK. */
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
      storage: { bucket, table, ...(prefix === undefined ? {} : { prefix: withoutSlashes(prefix) }) },
      network: { vpc, subnets, securityGroups },
      secret: { tokenSecret, ...(typeof tokenParameter === 'string' ? {} : { tokenParameter }) },
      key,
      topics,
      logs: { removalPolicy: RemovalPolicy.DESTROY, ...logs },
      permissionsBoundary,
    },
  };
}

/** Removes the slashes at both ends of a prefix, unless it is a CDK token. */
const withoutSlashes = (prefix: string) => (isToken(prefix) ? prefix : prefix.replaceAll(/^\/+|\/+$/g, ''));

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
    'prefix: allowed only with a bucket': prefix !== undefined && bucket === undefined,
    'key: not used, since the given bucket, table and token have their own keys: remove it':
      key !== undefined &&
      bucket !== undefined &&
      typeof bucket !== 'string' &&
      table !== undefined &&
      typeof table !== 'string' &&
      [tokenSecret, tokenSecretArn, tokenParameter].some((place) => place !== undefined),
    'logs.logGroupClass: expected STANDARD, since other classes have no metric filters and so no alarms':
      (logs?.logGroupClass ?? LogGroupClass.STANDARD) !== LogGroupClass.STANDARD,
    'subnets, securityGroups: allowed only with a vpc that is a construct':
      (vpc === undefined || isIds(vpc)) && (subnets !== undefined || securityGroups !== undefined),
    'fixedAddress: not allowed with a vpc, since calls come from the addresses of the vpc':
      vpc !== undefined && fixedAddress !== undefined && fixedAddress !== false,
    'tokenSecretArn: not allowed with tokenSecret': tokenSecret !== undefined && tokenSecretArn !== undefined,
    'tokenParameter: not allowed with a secret, since only one of them can have the token':
      tokenParameter !== undefined &&
      (tokenSecret !== undefined || (typeof tokenParameter !== 'string' && tokenSecretArn !== undefined)),
  };
  return [
    ...Object.entries(rules).flatMap(([fault, isFault]) => (isFault ? [fault] : [])),
    ...(table === undefined || typeof table === 'string' ? [] : tableFaults(table)),
    ...dependentFaults(props),
    ...aliasFaults(props, Stack.of(scope)),
  ];
}

/** Finds props that need another prop. */
function dependentFaults({ bucket, encryption, vpc, endpoints = [] }: AnyProps): readonly string[] {
  return [
    ...(encryption !== undefined && bucket === undefined
      ? [
          'encryption: allowed only with a bucket; the bucket of the construct is always encrypted, with key if it is set',
        ]
      : []),
    ...(endpoints.length > 0 && vpc === undefined ? ['endpoints: allowed only with a vpc'] : []),
  ];
}

/** Finds aliases of keys. IAM ignores a statement about an alias, so only the key itself can be granted. */
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
      ? [`${name}: expected the key itself, got an alias: IAM ignores the ARN of an alias in a policy`]
      : [],
  );
}

/** The maximum length of each prop that is known only at deployment. */
export function givenValues(of: IConstruct, props: AnyProps): readonly ValueLength[] {
  const { bucket, table, key, tokenSecret, tokenParameter, alarms = {}, readers = [] } = props;
  const { region, stackName } = Stack.of(of);
  const ofKind = (type: string, form: 'name' | 'arn', ...values: readonly unknown[]) =>
    values
      .filter((value) => Token.isUnresolved(value))
      .map((value) => ({ of, value, max: longestOf(type, form) }));
  return [
    ...(isToken(stackName) ? [] : [{ of, value: Aws.STACK_NAME, max: stackName.length }]),
    ...(isToken(region) ? [] : [{ of, value: Aws.PARTITION, max: partitionOf(region).length }]),
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
