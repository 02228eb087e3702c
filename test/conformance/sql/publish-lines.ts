import type { Place, Run } from '../../../lib/snapshot/keys.ts';
import { publishRun } from '../../../lib/snapshot/publish/publish.ts';
import type { Store } from '../../../lib/store/store.ts';
import { buildTables } from '../../../lib/tables/build/build-tables.ts';
import type { openPartitions } from '../../../lib/tables/partitions/partitions.ts';
import { storeWorkPart } from '../../snapshot/publish/finished-run.ts';
import { finishedManifest } from '../../snapshot/published-manifest.ts';

export type LinesToPublish = {
  readonly store: Store;
  readonly place: Place;
  readonly run: Run;
  readonly partitions: NonNullable<ReturnType<typeof openPartitions>>;
  /** The records of each part, each a line without its line end. */
  readonly parts: readonly (readonly string[])[];
};

/** Publishes records as a new run, and builds its tables. */
export async function publishLines({ store, place, run, partitions, parts }: LinesToPublish): Promise<void> {
  const stored = await Promise.all(
    parts.map((lines, index) => storeWorkPart(store, run, index, lines, lines.length, place)),
  );
  const publication = await publishRun({
    store,
    source: place,
    run,
    force: true,
    finished: finishedManifest(run, { source: place, parts: stored }),
  });
  if (publication.kind !== 'published') throw new Error(`expected a published run, got ${publication.kind}`);
  const making = buildTables({
    store,
    places: [place],
    partitions,
    isOver: () => false,
    warn: (what, reason) => {
      throw new Error(what, { cause: reason });
    },
  });
  for await (const { kind } of making) if (kind !== 'made') throw new Error(`expected tables, got ${kind}`);
}
