import { Duration } from 'aws-cdk-lib';
import { type LifecycleRule, StorageClass } from 'aws-cdk-lib/aws-s3';
import { REPLACED, RUN_TAG, sources } from '../lib/contract.ts';
import { placeOf } from './config-schedules.ts';
import type { Instance } from './config-schema.ts';

/**
 * The lifecycle rules of a bucket. The log of formulas, every `latest.json` and the newest run of each place never
 * expire: only runs that are tagged as replaced do.
 */
export function lifecycleOf(
  { lifetimes, schedules }: Pick<Instance, 'lifetimes' | 'schedules'>,
  root: string,
): LifecycleRule[] {
  const { runs } = lifetimes;
  const days = {
    'work/': lifetimes.work,
    'results/': lifetimes.results,
    'inbox/': lifetimes.texts,
    'scores/': lifetimes.scores,
    'refused/': lifetimes.refused,
  };
  const replaced =
    runs === undefined
      ? []
      : schedules
          .map(placeOf)
          .flatMap((place) =>
            ['', 'changes/', 'parquet/', 'parquet/uses/'].map((folder) => `${folder}${place}/dt=`),
          )
          .map((prefix) => ({
            prefix: `${root}${prefix}`,
            tagFilters: { [RUN_TAG]: REPLACED },
            expiration: Duration.days(runs),
          }));
  return [
    ...Object.entries(days).map(([prefix, after]) => ({
      prefix: `${root}${prefix}`,
      expiration: Duration.days(after),
    })),
    ...replaced,
    // Old runs are rarely read. With intelligent tiering, an object that is not read for 90 days costs a sixth, and can be
    // read as fast as before. Objects below 128 KB are not moved.
    ...[...sources, 'parquet/'].map((folder) => ({
      prefix: `${root}${folder}`,
      transitions: [{ storageClass: StorageClass.INTELLIGENT_TIERING, transitionAfter: Duration.days(0) }],
    })),
    {
      abortIncompleteMultipartUploadAfter: Duration.days(2),
      noncurrentVersionExpiration: Duration.days(lifetimes.oldVersions),
      expiredObjectDeleteMarker: true,
    },
  ];
}
