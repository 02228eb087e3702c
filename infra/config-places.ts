import type { RuleFault } from './config-schedules.ts';
import { severities } from './severities.ts';
import { at } from './template-size.ts';

/** An account and a region, undefined where those of the deployment count, and the name of a bucket that is given. */
export type Home = {
  readonly account?: string | undefined;
  readonly region?: string | undefined;
  readonly bucket?: string;
};

type Given = Readonly<Record<string, unknown>>;

/** The fields that name something of AWS, by their paths, and what it is. */
const NAMED = [
  { path: ['tokenParameter'], what: 'a parameter' },
  { path: ['tokenSecretArn'], what: 'a secret' },
  { path: ['tokenKeyArn'], what: 'a key' },
  { path: ['key'], what: 'a key' },
  { path: ['alarms', 'topicArn'], what: 'a topic' },
  ...severities.map((severity) => ({ path: ['alarms', 'topics', severity], what: 'a topic' })),
];

/** Where an instance is deployed: where it says, or else where what it names is. */
export function homeOf(instance: Home): Home {
  const [first] = placesIn(instance);
  return { account: instance.account ?? first?.account, region: instance.region ?? first?.region };
}

/** What a region's ARNs begin with: AWS in China and GovCloud are apart from everything else. */
export const partitionOf = (region: string): string =>
  /^(cn|us-gov)-/.exec(region)?.[1]?.replace(/^/, 'aws-') ?? 'aws';

/** What an instance names must be in its own account and region: functions and alarms cannot use it elsewhere. */
export function placeFaults(instance: Given): readonly RuleFault[] {
  const places = placesIn(instance);
  const [first] = places;
  const account = textAt(instance, 'account') ?? first?.account;
  const region = textAt(instance, 'region') ?? first?.region;
  const elsewhere = places.filter((each) => each.account !== account || each.region !== region);
  return [
    ...elsewhere.map(({ path, what }) => ({
      path,
      expected: `${what} of account ${account} in ${region}, like the rest of the instance`,
    })),
    ...tokenFaults(instance),
    ...(region === undefined ? [] : partitionFaults(instance, partitionOf(region))),
  ];
}

/** Nothing of one partition can reach what is in another, and not every service is in each. */
function partitionFaults(instance: Given, partition: string): readonly RuleFault[] {
  const readers = instance['readers'];
  const named = [
    ...NAMED.map(({ path }) => ({ path, arn: textAt(instance, ...path) })),
    ...(Array.isArray(readers) ? readers.map((arn, index) => ({ path: ['readers', index], arn })) : []),
  ];
  return [
    ...named
      .filter(
        ({ arn }) => typeof arn === 'string' && /^arn:/.test(arn) && !arn.startsWith(`arn:${partition}:`),
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

/** The token is in one place, and only what is named has a key that must be named. */
function tokenFaults({ tokenParameter, tokenSecretArn, tokenKeyArn }: Given): readonly RuleFault[] {
  if (tokenParameter !== undefined && tokenSecretArn !== undefined)
    return [{ path: ['tokenSecretArn'], expected: 'none beside tokenParameter: the token is in one place' }];
  if (tokenKeyArn === undefined || tokenParameter !== undefined || tokenSecretArn !== undefined) return [];
  const expected = 'none without tokenParameter or tokenSecretArn: the stack’s own secret has a key of AWS';
  return [{ path: ['tokenKeyArn'], expected }];
}

function placesIn(instance: Given) {
  return NAMED.flatMap(({ path, what }) => {
    const [, region, account] =
      /^arn:[^:]+:[^:]+:([^:]+):(\d{12}):/.exec(textAt(instance, ...path) ?? '') ?? [];
    return account === undefined || region === undefined ? [] : [{ path, what, account, region }];
  });
}

/** A field that is text. */
export function textAt(value: unknown, ...names: readonly string[]): string | undefined {
  const found = at(value, ...names);
  return typeof found === 'string' ? found : undefined;
}
