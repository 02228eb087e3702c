import { type AwsEnvironment, once } from '../../base/index.ts';
import type { Store } from '../../store/index.ts';
import type { Partitions } from './partitions.ts';

export type OpenPartitionsOptions = {
  /** `SYNC_GLUE_DATABASE`: none, no partitions. */
  readonly database: string | undefined;
  readonly store: Pick<Store, 'location'>;
  readonly environment: AwsEnvironment;
};

/** The partitions that the settings say. The SDK is loaded when the first one is added or removed. */
export function openPartitions({
  database,
  store,
  environment,
}: OpenPartitionsOptions): Partitions | undefined {
  if (database === undefined) return undefined;
  const partitions = once(async () => {
    const { gluePartitions } = await import('./glue-partitions.ts');
    return gluePartitions({ database, location: store.location, environment });
  });
  return {
    add: async (place, run, manifest) => (await partitions()).add(place, run, manifest),
    remove: async (place, run) => (await partitions()).remove(place, run),
  };
}
