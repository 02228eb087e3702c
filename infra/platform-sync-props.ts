import { RemovalPolicy } from 'aws-cdk-lib';
import type { IManagedPolicy } from 'aws-cdk-lib/aws-iam';
import type { GivenTopics } from './alarm-topics.ts';
import type { CompleteSettings, InstanceSettings } from './config-schema.ts';
import { tableFaults } from './given-table.ts';
import type { LogSettings } from './log-settings.ts';
import { type GivenNetwork, isIds } from './network.ts';
import type { GivenStorage } from './storage.ts';
import type { GivenToken } from './token-secret.ts';

/** What the app around the construct has already, and what its rules ask for. */
type PlatformSyncResources = GivenStorage &
  GivenNetwork &
  GivenToken & {
    /** Topics that are notified of alarms, by their severities, besides those of the settings. */
    readonly topics?: GivenTopics | undefined;
    /** Of all log groups: key, class, removal. Default: deleted with the stack. How long they last is a lifetime. */
    readonly logs?: Omit<LogSettings, 'retention'> | undefined;
    /** The most that any role of the construct may do. */
    readonly permissionsBoundary?: IManagedPolicy | undefined;
  };

/** What is a setting where it is a name, an ARN or ids. */
type Given = keyof GivenToken | keyof GivenStorage | keyof GivenNetwork;

/** The settings of the instance as one writes them, checked when the construct is made, and what exists already. */
export type PlatformSyncProps = Omit<InstanceSettings, Given> & PlatformSyncResources;

/** The same, or settings that are complete already. */
export type AnyProps = PlatformSyncProps | (Omit<CompleteSettings, Given> & PlatformSyncResources);

/** The props apart: what is checked by the schema of the settings, and what is CDK's. */
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
  // Names, ARNs and ids are settings like others: checked with them.
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

/** Without slashes at its ends. */
const bare = (prefix: string) => prefix.replaceAll(/^\/+|\/+$/g, '');

/** What contradicts itself in the props, each as a line of a `ConfigError`. */
export function resourceFaults(props: AnyProps): readonly string[] {
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
  ];
}
