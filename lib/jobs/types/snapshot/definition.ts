import type { JobTypeDefinition } from '../job-type-definition.ts';
import type { SnapshotMessage } from './message.ts';
import { snapshotChecks } from './message.ts';

/** Takes a snapshot, or starts the durable execution that takes it. A second start is the same run. */
export const snapshot: JobTypeDefinition<SnapshotMessage> = {
  checks: snapshotChecks,
  mayRepeat: () => true,
  isClaimedFirst: true,
  stopsWhenCancelled: false,
  mustLastMs: (timeoutMs) => timeoutMs,
  allowFault: () => undefined,
  mostCalls: () => undefined,
  async openRunner({ session, storage }) {
    const { openSnapshots } = await import('./open-snapshots.ts');
    return openSnapshots(session, storage);
  },
  afterEnd: async () => undefined,
  beforeReopen: async () => undefined,
  sample: ({ datasetIds }) => ({
    version: 1,
    type: 'snapshot',
    id: 'tour-snapshot',
    source: 'cards',
    datasets: [...datasetIds.slice(0, 3)],
  }),
};
