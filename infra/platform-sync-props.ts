import { RemovalPolicy } from 'aws-cdk-lib';
import type { IManagedPolicy } from 'aws-cdk-lib/aws-iam';
import type { GivenTopics } from './alarm-topics.ts';
import type { CompleteSettings, InstanceSettings } from './config-schema.ts';
import type { LogSettings } from './log-settings.ts';
import type { GivenNetwork } from './network.ts';
import { type GivenStorage, tableFaults } from './storage.ts';
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

/** The settings of the instance as one writes them, checked when the construct is made, and what exists already. */
export type PlatformSyncProps = Omit<InstanceSettings, keyof GivenToken> & PlatformSyncResources;

/** The same, or settings that are complete already. */
export type AnyProps = PlatformSyncProps | (Omit<CompleteSettings, keyof GivenToken> & PlatformSyncResources);

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
  // A name or an ARN is a setting like others: checked with them.
  const isSetting = typeof tokenParameter === 'string';
  return {
    settings: isSetting ? { ...settings, tokenParameter } : settings,
    resources: {
      storage: { bucket, table, key, ...(prefix === undefined ? {} : { prefix: bare(prefix) }) },
      network: { vpc, subnets, securityGroups },
      secret: { tokenSecret, key, ...(isSetting ? {} : { tokenParameter }) },
      topics,
      logs: { removalPolicy: RemovalPolicy.DESTROY, ...logs },
      permissionsBoundary,
    },
  };
}

/** Nothing that a pattern of keys, in a policy or of events, would take for something else than itself. */
const FOLDERS = /^\/*(?!\.{1,2}(?:\/|$))[\w!\-.'()]+(?:\/(?!\.{1,2}(?:\/|$))[\w!\-.'()]+)*\/*$/;

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
    [`prefix: expected folders of letters, digits and !-_.'(), got ${JSON.stringify(prefix)}`]:
      prefix !== undefined && !FOLDERS.test(prefix),
    'key: expected none beside a bucket, a table and a place of the token: each has its own':
      key !== undefined &&
      bucket !== undefined &&
      table !== undefined &&
      [tokenSecret, tokenSecretArn, tokenParameter].some((place) => place !== undefined),
    'subnets, securityGroups: expected none without a vpc':
      vpc === undefined && (subnets !== undefined || securityGroups !== undefined),
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
    ...(table === undefined ? [] : tableFaults(table)),
  ];
}
