import {
  GetBucketLifecycleConfigurationCommand,
  GetBucketVersioningCommand,
  HeadBucketCommand,
  type LifecycleRule,
  type S3Client,
} from '@aws-sdk/client-s3';
import { readAwsFault } from '../base/aws/index.ts';

/**
 * Reads the region, versioning and lifecycle of a bucket. `facts`: the versioning, and what these credentials may not
 * read. `faults`: a wrong region, or how lifecycle rules endanger stored objects, one a line.
 */
export async function examineBucket(
  client: S3Client,
  { bucket, prefix }: { readonly bucket: string; readonly prefix: string },
  signal?: AbortSignal,
): Promise<{ readonly facts: readonly string[]; readonly faults: readonly string[] }> {
  const own = { Bucket: bucket };
  const abort = signal === undefined ? {} : { abortSignal: signal };
  const regions = await regionsOf(client, bucket, abort);
  if (regions.found !== undefined && regions.found !== regions.set)
    return {
      facts: [],
      faults: [`it is in ${regions.found}, and requests go to ${regions.set}: set AWS_REGION`],
    };
  const status = await client
    .send(new GetBucketVersioningCommand(own), abort)
    .then(({ Status = 'Disabled' }) => ({ known: Status }), unknown);
  const rules = await client.send(new GetBucketLifecycleConfigurationCommand(own), abort).then(
    ({ Rules = [] }) => ({ known: Rules }),
    (error: unknown) =>
      readAwsFault(error).code === 'NoSuchLifecycleConfiguration' ? { known: [] } : unknown(error),
  );
  const facts = [
    'known' in status
      ? `versions ${status.known.toLowerCase()}`
      : `its versions are unknown (${status.code})`,
    ...('known' in rules
      ? rules.known.length === 0
        ? ['no lifecycle: nothing expires']
        : []
      : [`its lifecycle is unknown (${rules.code})`]),
  ];
  return {
    facts,
    faults: 'known' in rules ? ruleFaults(rules.known, prefix === '' ? '' : `${prefix}/`) : [],
  };
}

const unknown = (error: unknown) => ({ code: readAwsFault(error).code });

/** The region of the bucket, which S3 sends even in the headers of a refusal, and the region of the client. */
async function regionsOf(client: S3Client, bucket: string, abort: { readonly abortSignal?: AbortSignal }) {
  const found = await client.send(new HeadBucketCommand({ Bucket: bucket }), abort).then(
    ({ BucketRegion }) => BucketRegion,
    ({ $response: response }: { readonly $response?: { readonly headers: Record<string, string> } }) =>
      response?.headers['x-amz-bucket-region'],
  );
  return { found, set: await client.config.region() };
}

/** Prefixes whose objects expire by design: work folders, results and texts, by `lifetimes` of the template. */
const MAY_EXPIRE = ['work/', 'results/', 'inbox/', 'scores/', 'refused/'] as const;

/** Storage classes whose objects must be restored for hours before they can be read. */
const ARCHIVES: readonly string[] = ['GLACIER', 'DEEP_ARCHIVE'];

/**
 * Describes the rules that delete or archive objects under `root` that must stay. A rule for tagged objects is
 * assumed to be intended.
 */
function ruleFaults(rules: readonly LifecycleRule[], root: string): readonly string[] {
  return rules.flatMap(({ ID = 'without a name', Status, Filter, Prefix, Expiration, Transitions = [] }) => {
    const under = Filter?.And?.Prefix ?? Filter?.Prefix ?? Prefix ?? '';
    const isTagged = Filter?.Tag !== undefined || (Filter?.And?.Tags ?? []).length > 0;
    const isApart = !under.startsWith(root) && !root.startsWith(under);
    if (Status !== 'Enabled' || isTagged || isApart) return [];
    const objects = under === '' ? 'everything' : `what begins with ${under}`;
    const mayExpire = MAY_EXPIRE.some((folder) => under.startsWith(root + folder));
    const expires = Expiration?.Days !== undefined || Expiration?.Date !== undefined;
    const archive = Transitions.find(({ StorageClass = '' }) => ARCHIVES.includes(StorageClass));
    return [
      ...(expires && !mayExpire
        ? [
            `its rule ${ID} deletes ${objects} ${Expiration?.Days === undefined ? 'at a date' : `after ${Expiration.Days} days`}: published runs are lost`,
          ]
        : []),
      ...(archive === undefined
        ? []
        : [
            `its rule ${ID} moves ${objects} to ${archive.StorageClass}: it cannot be read until it is restored`,
          ]),
    ];
  });
}
