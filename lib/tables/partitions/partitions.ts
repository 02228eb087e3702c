import type { AwsEnvironment } from '../../base/aws/index.ts';
import { loadPeer, once } from '../../base/index.ts';
import type { Manifest } from '../../snapshot/history/index.ts';
import type { Place, Run } from '../../snapshot/sources/index.ts';
import type { Store } from '../../store/index.ts';

/**
 * Adds and removes partitions: one for each run, and one for its changes in the table of all places. A narrowed
 * snapshot (`SOURCE.NAME`) has a table if a schedule of the stack names it. Both may be repeated, and throw `AwsError`.
 */
type Partitions = {
  /** Adds the run's partitions, or updates them to its manifest. Its Parquet must exist already. */
  add(place: Place, run: Run, manifest: Pick<Manifest, 'changes'>): Promise<void>;
  /** Removes the run's partitions, if they exist. Deletes no object. */
  remove(place: Place, run: Run): Promise<void>;
};

/** Opens the partitions of the Glue database; undefined if none is configured. The first call loads the SDK. */
export function openPartitions(options: {
  /** The setting `SYNC_GLUE_DATABASE`. Undefined: there are no partitions. */
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

/** Reads a Glue table, as adding a partition does. Throws `AwsError` if it is missing or may not be read. */
export async function checkGlueTable(
  database: string,
  name: string,
  environment: AwsEnvironment,
): Promise<void> {
  const { seeGlueTable } = await loadGlue();
  await seeGlueTable(database, name, environment);
}
