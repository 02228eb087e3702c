import type { AwsEnvironment } from '../../base/aws/index.ts';
import { loadPeer, once } from '../../base/index.ts';
import type { Manifest } from '../../snapshot/history/index.ts';
import type { Place, Run } from '../../snapshot/sources/index.ts';
import type { Store } from '../../store/index.ts';

/**
 * Adds and removes the partitions of a run: one in the table of its place, and one for its changes in the table of all
 * changes. A narrowed snapshot (`SOURCE.NAME`) has a table if the stack has a schedule for it. Both methods may be
 * repeated, and throw `AwsError`.
 */
type Partitions = {
  /** Adds the run's partitions, or updates them according to its manifest. Its Parquet must already exist. */
  add(place: Place, run: Run, manifest: Pick<Manifest, 'changes'>): Promise<void>;
  /** Removes the run's partitions, if they exist. It deletes no object. */
  remove(place: Place, run: Run): Promise<void>;
};

/** Opens the partitions of the Glue database; undefined if none is configured. The first call loads the SDK. */
export function openPartitions(options: {
  /** The setting `SYNC_GLUE_DATABASE`; undefined if it is not set. */
  readonly database: string | undefined;
  readonly store: Pick<Store, 'location'>;
  readonly environment: AwsEnvironment;
}): Partitions | undefined {
  const { database, store, environment } = options;
  if (database === undefined) return undefined;
  const opened = once(async () => {
    const { gluePartitions } = await loadGlue();
    return gluePartitions({ database, location: store.location, environment });
  });
  return {
    add: async (place, run, manifest) => (await opened()).add(place, run, manifest),
    remove: async (place, run) => (await opened()).remove(place, run),
  };
}

const loadGlue = () => loadPeer('@aws-sdk/client-glue', () => import('./glue-partitions.ts'));

/**
 * Reads a Glue table, with the same request as adding a partition. Throws `AwsError` if it is missing or access is
 * denied.
 */
export async function checkGlueTable(
  database: string,
  name: string,
  environment: AwsEnvironment,
): Promise<void> {
  const { seeGlueTable } = await loadGlue();
  await seeGlueTable(database, name, environment);
}
