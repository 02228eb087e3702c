import type { RuleFault } from './config-schedules.ts';
import { severities } from './severities.ts';
import { at } from './template-size.ts';

/** An account and a region, undefined for those of the deployment, and the name of an existing bucket. */
export type Home = {
  readonly account?: string | undefined;
  readonly region?: string | undefined;
  readonly bucket?: string;
};

type Given = Readonly<Record<string, unknown>>;

/** The fields that name a resource of AWS, by their paths, and what it is. */
const NAMED = [
  { path: ['tokenParameter'], what: 'a parameter' },
  { path: ['tokenSecretArn'], what: 'a secret' },
  { path: ['tokenKeyArn'], what: 'a key' },
  { path: ['key'], what: 'a key' },
  { path: ['alarms', 'topicArn'], what: 'a topic' },
  ...severities.map((severity) => ({ path: ['alarms', 'topics', severity], what: 'a topic' })),
];

/** Where an instance is deployed: as its settings say, otherwise where the resources are that they name. */
export function homeOf(instance: Given & Home): Home {
  const places = placesIn(instance);
  const [account, ...others] = new Set(places.map((each) => each.account));
  return {
    account: instance.account ?? (others.length === 0 ? account : undefined),
    region: instance.region ?? places[0]?.region,
  };
}

/** The start of a region's ARNs: AWS in China and GovCloud are separate from everything else. */
export const partitionOf = (region: string): string =>
  /^(cn|us-gov)-/.exec(region)?.[1]?.replace(/^/, 'aws-') ?? 'aws';

/**
 * Finds resources in the wrong region: functions and alarms can use them only in the instance's region. They
 * may belong to another account, for example a central one, which must then allow this account to use them.
 */
export function placeFaults(instance: Given): readonly RuleFault[] {
  const { region } = homeOf(instance);
  const accounts = new Set(placesIn(instance).map(({ account }) => account));
  return [
    ...placesIn(instance)
      .filter((each) => each.region !== region)
      .map(({ path, what }) => ({ path, expected: `${what} in ${region}, like the rest of the instance` })),
    // A construct has the account and the region of its stack.
    ...(accounts.size > 1 && textAt(instance, 'account') === undefined && !('account' in instance)
      ? [{ path: ['account'], expected: `where it is deployed: it names ${[...accounts].join(' and ')}` }]
      : []),
    ...tokenFaults(instance),
    ...(region === undefined ? [] : partitionFaults(instance, partitionOf(region))),
  ];
}

/** The fields that name a resource of another account than the instance's, as far as that is known. */
export function foreignFields(instance: Given): readonly string[] {
  const { account } = homeOf(instance);
  return placesIn(instance)
    .filter((each) => account !== undefined && each.account !== account)
    .map(({ path }) => path.join('.'));
}

/**
 * Finds resources of another partition, which the instance cannot reach, and services that its partition
 * lacks.
 */
function partitionFaults(instance: Given, partition: string): readonly RuleFault[] {
  const readers = instance['readers'];
  const named = [
    ...NAMED.map(({ path }) => ({ path, arn: textAt(instance, ...path) })),
    ...(Array.isArray(readers) ? readers.map((arn, index) => ({ path: ['readers', index], arn })) : []),
  ];
  return [
    ...named
      .filter(
        ({ arn }) =>
          typeof arn === 'string' && /^arn:[a-z-]+:/.test(arn) && !arn.startsWith(`arn:${partition}:`),
      )
      .map(({ path }) => ({ path, expected: `an ARN of ${partition}, like the region of the instance` })),
    ...(partition !== 'aws' && at(instance, 'alarms', 'slack') !== undefined
      ? [
          {
            path: ['alarms', 'slack'],
            expected: `none in ${partition}, which has no Amazon Q Developer in chat applications: configure alarms.email or alarms.topicArn`,
          },
        ]
      : []),
  ];
}

/**
 * Finds contradictions about the token: it is in one place, and a key must be named only for an existing
 * resource.
 */
function tokenFaults(instance: Given): readonly RuleFault[] {
  const { tokenParameter, tokenSecretArn, tokenKeyArn } = instance;
  if (
    tokenKeyArn === undefined &&
    foreignFields(instance).some((field) => /^token(Parameter|SecretArn)$/.test(field))
  )
    return [
      { path: ['tokenKeyArn'], expected: 'the key of what is of another account: AWS’s own is not shared' },
    ];
  if (tokenParameter !== undefined && tokenSecretArn !== undefined)
    return [{ path: ['tokenSecretArn'], expected: 'none beside tokenParameter: the token is in one place' }];
  if (tokenKeyArn === undefined || tokenParameter !== undefined || tokenSecretArn !== undefined) return [];
  const expected = 'none without tokenParameter or tokenSecretArn: the stack’s own secret has a key of AWS';
  return [{ path: ['tokenKeyArn'], expected }];
}

function placesIn(instance: Given) {
  return NAMED.flatMap(({ path, what }) => {
    const [, region, account] =
      /^arn:[^:]+:[^:]+:([a-z0-9-]+):(\d{12}):/.exec(textAt(instance, ...path) ?? '') ?? [];
    return account === undefined || region === undefined ? [] : [{ path, what, account, region }];
  });
}

/** A field that is text. */
export function textAt(value: unknown, ...names: readonly string[]): string | undefined {
  const found = at(value, ...names);
  return typeof found === 'string' ? found : undefined;
}
