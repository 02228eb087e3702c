import type { JobTypeDefinition } from '../job-type-definition.ts';
import { type SnapshotMessage, snapshotChecks } from './message.ts';

/** Takes a snapshot, or starts the durable execution that takes it. Starting it again leads to the same run. */
export const snapshot: JobTypeDefinition<SnapshotMessage> = {
  ...snapshotChecks,
  mayRepeat: () => true,
  isClaimedFirst: true,
  maxCalls: () => undefined,
  openRunner: async ({ session, storage }) =>
    (await import('./open-snapshots.ts')).openSnapshots(session, storage),
  sample: ({ datasetIds }) => ({
    version: 1,
    type: 'snapshot',
    id: 'tour-snapshot',
    source: 'cards',
    datasets: [...datasetIds.slice(0, 3)],
  }),
};
