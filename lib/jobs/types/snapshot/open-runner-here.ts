import { sleep } from '../../../base/index.ts';
import type { Session } from '../../../session.ts';
import type { Store } from '../../../store/index.ts';
import type { RunJob } from '../../turn.ts';
import type { SnapshotJob } from './message.ts';
import { snapshotRunner } from './runner.ts';

export type SnapshotStorage = { readonly store: Store; readonly host: string };

/** The runner that takes snapshots in this process. A deployed worker does not load it. */
export function openRunnerHere(session: Session, { store, host }: SnapshotStorage): RunJob<SnapshotJob> {
  const { settings, callCounts, paceCounts } = session;
  return snapshotRunner({
    now: Date.now,
    random: Math.random,
    sleep,
    call: session.platform.call,
    store,
    host,
    compression: settings.SYNC_COMPRESSION,
    partMs: settings.SYNC_PART_SECONDS * 1_000,
    callCounts,
    paceCounts,
    warn: (what, err) => session.logger.warn({ what, err }, 'published with a fault'),
  });
}
