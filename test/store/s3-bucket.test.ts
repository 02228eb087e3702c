import { expect, test } from 'vitest';
import { examineStore } from '../../lib/store/open.ts';
import { environmentOf, s3Error } from '../base/aws/replies.ts';
import { bytes, type Reply, startServer } from '../platform/scripted-server.ts';

const xml = (body: string, headers = {}): Reply =>
  bytes(body, { 'content-type': 'application/xml', ...headers });
const region = (name: string, status = 200) => bytes('', { 'x-amz-bucket-region': name }, status);

/** A lifecycle rule as S3 sends it: list members one after another, each in an element with the singular name of the list. */
function printed(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .flatMap(([name, member]) =>
      [member].flat().map((each) => {
        const tag = Array.isArray(member) ? name.replace(/s$/, '') : name;
        return `<${tag}>${printed(each)}</${tag}>`;
      }),
    )
    .join('');
}

/** The faults of a bucket with this lifecycle rule, for a store below `acme/`. */
async function faultsOf(rule: object) {
  await using s3 = await startServer(
    region('eu-central-1'),
    xml('<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>'),
    xml(`<LifecycleConfiguration><Rule>${printed(rule)}</Rule></LifecycleConfiguration>`),
  );
  return (await examineStore('s3://bucket/acme', environmentOf(s3)))?.faults;
}

const on = { Status: 'Enabled' } as const;

test.each([
  [
    'everything',
    { ...on, ID: 'all', Filter: { Prefix: '' }, Expiration: { Days: 30 } },
    'its rule all deletes everything after 30 days',
  ],
  [
    'the prefix of the store',
    { ...on, Prefix: 'acme', Expiration: { Days: 30 } },
    'deletes what begins with acme after 30 days',
  ],
  [
    'runs',
    { ...on, Filter: { Prefix: 'acme/calculations/' }, Expiration: { Days: 9 } },
    'deletes what begins with acme/calculations/',
  ],
  [
    'a deletion at a date',
    { ...on, Filter: { Prefix: '' }, Expiration: { Date: new Date() } },
    'deletes everything at a date',
  ],
  [
    'a move to an archive',
    { ...on, Filter: { Prefix: '' }, Transitions: [{ Days: 1, StorageClass: 'DEEP_ARCHIVE' as const }] },
    'moves everything to DEEP_ARCHIVE',
  ],
  [
    'results that are archived',
    { ...on, Prefix: 'acme/results/', Transitions: [{ StorageClass: 'GLACIER' as const }] },
    'moves what begins with acme/results/ to GLACIER',
  ],
])('a lifecycle rule about %s is reported as breaking a promise', async (_, rule, words) => {
  expect(await faultsOf(rule)).toEqual([expect.stringContaining(words)]);
});

test.each([
  ['that is off', { Status: 'Disabled' as const, Filter: { Prefix: '' }, Expiration: { Days: 1 } }],
  ['for other prefixes', { ...on, Filter: { Prefix: 'logs/' }, Expiration: { Days: 1 } }],
  [
    'for tagged objects, as the template has it',
    { ...on, Filter: { Tag: { Key: 'run', Value: 'replaced' } }, Expiration: { Days: 90 } },
  ],
  [
    'for tagged objects below a prefix',
    {
      ...on,
      Filter: { And: { Prefix: 'acme/', Tags: [{ Key: 'run', Value: 'replaced' }] } },
      Expiration: { Days: 9 },
    },
  ],
  ['for leftovers under work/', { ...on, Filter: { Prefix: 'acme/work/' }, Expiration: { Days: 7 } }],
  [
    'for old versions and cut uploads',
    {
      ...on,
      Filter: { Prefix: '' },
      NoncurrentVersionExpiration: { NoncurrentDays: 30 },
      Expiration: { ExpiredObjectDeleteMarker: true },
    },
  ],
  [
    'that moves objects to a cheaper storage class',
    {
      ...on,
      Filter: { Prefix: '' },
      Transitions: [{ Days: 0, StorageClass: 'INTELLIGENT_TIERING' as const }],
    },
  ],
])('a lifecycle rule %s is not reported', async (_, rule) => {
  expect(await faultsOf(rule)).toEqual([]);
});

test('the check of a bucket reports its region, whether it has versions, and what its rules delete', async () => {
  await using s3 = await startServer(
    region('eu-central-1'),
    xml('<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>'),
    xml(
      '<LifecycleConfiguration><Rule><ID>old</ID><Status>Enabled</Status><Filter><Prefix></Prefix></Filter><Expiration><Days>90</Days></Expiration></Rule></LifecycleConfiguration>',
    ),
  );

  expect(await examineStore('s3://bucket/acme', environmentOf(s3))).toEqual({
    facts: ['versions enabled'],
    faults: ['its rule old deletes everything after 90 days: published runs are lost'],
  });
});

test('a bucket in another region is found by the header of the refusal', async () => {
  await using s3 = await startServer(region('us-west-2', 301));

  expect(await examineStore('s3://bucket', environmentOf(s3))).toEqual({
    facts: [],
    faults: ['it is in us-west-2, and requests go to eu-central-1: set AWS_REGION'],
  });
});

test('a property of a bucket that may not be read is reported as unknown, not as a fault; for a directory nothing is reported', async () => {
  await using s3 = await startServer(
    region('eu-central-1'),
    s3Error('AccessDenied', 403),
    s3Error('NoSuchLifecycleConfiguration', 404),
  );

  expect(await examineStore('s3://bucket', environmentOf(s3))).toEqual({
    facts: ['its versions are unknown (AccessDenied)', 'no lifecycle: nothing expires'],
    faults: [],
  });
  expect(await examineStore('/data', {})).toBeUndefined();
});
