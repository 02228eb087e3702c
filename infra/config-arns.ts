import type { RuleFault } from './config-schedules.ts';
import { severities } from './severities.ts';
import { at } from './template-size.ts';

/** Where an instance is deployed, and its existing bucket. Undefined: the account or region of the deployment. */
export type Home = {
  readonly account?: string | undefined;
  readonly region?: string | undefined;
  readonly bucket?: string;
};

type Given = Readonly<Record<string, unknown>>;

/** The paths of the fields that name an AWS resource, and the noun for the resource. */
const RESOURCE_FIELDS = [
  { path: ['tokenParameter'], what: 'a parameter' },
  { path: ['tokenSecretArn'], what: 'a secret' },
  { path: ['tokenKeyArn'], what: 'a key' },
  { path: ['key'], what: 'a key' },
  { path: ['alarms', 'topicArn'], what: 'a topic' },
  ...severities.map((severity) => ({ path: ['alarms', 'topics', severity], what: 'a topic' })),
];

/** Where an instance is deployed, according to its settings, or else according to the ARNs in its settings. */
export function homeOf(instance: Given & Home): Home {
  const arns = arnsIn(instance);
  const [account, ...others] = new Set(arns.map((each) => each.account));
  return {
    account: instance.account ?? (others.length === 0 ? account : undefined),
    region: instance.region ?? arns[0]?.region,
  };
}

/** The partition in the ARNs of a region: AWS in China and in GovCloud are separate partitions. */
export const partitionOf = (region: string): string =>
  /^(cn|us-gov)-/.exec(region)?.[1]?.replace(/^/, 'aws-') ?? 'aws';

/**
 * Finds resources outside the instance's region, where functions and alarms cannot use them. A resource may belong to
 * another account, such as a central account, if that account allows this account to use it.
 */
export function arnFaults(instance: Given): readonly RuleFault[] {
  const { region } = homeOf(instance);
  const accounts = new Set(arnsIn(instance).map(({ account }) => account));
  return [
    ...arnsIn(instance)
      .filter((each) => each.region !== region)
      .map(({ path, what }) => ({ path, expected: `${what} in ${region}, like the rest of the instance` })),
    // A construct has the account and the region of its stack.
    ...(accounts.size > 1 && textAt(instance, 'account') === undefined && !('account' in instance)
      ? [
          {
            path: ['account'],
            expected: `the account of the deployment, since the ARNs are of several accounts (${[...accounts].join(', ')})`,
          },
        ]
      : []),
    ...tokenFaults(instance),
    ...(region === undefined ? [] : partitionFaults(instance, partitionOf(region))),
  ];
}

/** The fields that name a resource of another account, if the instance's account is known. */
export function foreignFields(instance: Given): readonly string[] {
  const { account } = homeOf(instance);
  return arnsIn(instance)
    .filter((each) => account !== undefined && each.account !== account)
    .map(({ path }) => path.join('.'));
}

/** Finds resources of another partition, which the instance cannot reach, and services that its partition lacks. */
function partitionFaults(instance: Given, partition: string): readonly RuleFault[] {
  const readers = instance['readers'];
  const references = [
    ...RESOURCE_FIELDS.map(({ path }) => ({ path, arn: textAt(instance, ...path) })),
    ...(Array.isArray(readers) ? readers.map((arn, index) => ({ path: ['readers', index], arn })) : []),
  ];
  return [
    ...references
      .filter(
        ({ arn }) =>
          typeof arn === 'string' && /^arn:[a-z-]+:/.test(arn) && !arn.startsWith(`arn:${partition}:`),
      )
      .map(({ path }) => ({ path, expected: `an ARN of ${partition}, like the region of the instance` })),
    ...(partition !== 'aws' && at(instance, 'alarms', 'slack') !== undefined
      ? [
          {
            path: ['alarms', 'slack'],
            expected: `no slack, since ${partition} has no Amazon Q Developer in chat applications (use alarms.email or alarms.topicArn)`,
          },
        ]
      : []),
  ];
}

/** Finds contradictory settings of the token: it is in one resource, and only an existing resource has a named key. */
function tokenFaults(instance: Given): readonly RuleFault[] {
  const { tokenParameter, tokenSecretArn, tokenKeyArn } = instance;
  if (
    tokenKeyArn === undefined &&
    foreignFields(instance).some((field) => /^token(Parameter|SecretArn)$/.test(field))
  )
    return [
      {
        path: ['tokenKeyArn'],
        expected:
          'the ARN of the key, since the token is in another account and AWS’s own key cannot be shared',
      },
    ];
  if (tokenParameter !== undefined && tokenSecretArn !== undefined)
    return [{ path: ['tokenSecretArn'], expected: 'no tokenSecretArn, since tokenParameter has the token' }];
  if (tokenKeyArn === undefined || tokenParameter !== undefined || tokenSecretArn !== undefined) return [];
  const expected =
    'tokenParameter or tokenSecretArn as well, or no tokenKeyArn, since the stack’s own secret has AWS’s own key';
  return [{ path: ['tokenKeyArn'], expected }];
}

function arnsIn(instance: Given) {
  return RESOURCE_FIELDS.flatMap(({ path, what }) => {
    const [, region, account] =
      /^arn:[^:]+:[^:]+:([a-z0-9-]+):(\d{12}):/.exec(textAt(instance, ...path) ?? '') ?? [];
    return account === undefined || region === undefined ? [] : [{ path, what, account, region }];
  });
}

/** The value of a field if it is a string. */
export function textAt(value: unknown, ...names: readonly string[]): string | undefined {
  const field = at(value, ...names);
  return typeof field === 'string' ? field : undefined;
}
