import { startRun } from '../../../lib/snapshot/run/begin-run.ts';
import { type Saved, type SnapshotOptions, takeSlice } from '../../../lib/snapshot/run/take-run.ts';
import type { Store } from '../../../lib/store/store.ts';

type SliceOptions = Parameters<typeof takeSlice>[1];

type Differences = Partial<Parameters<typeof startRun>[0] & Pick<SnapshotOptions, 'now' | 'random'>>;

/** Starts a run in a store. By default it starts now and takes all calculations. */
export const beginIn = (store: Store, { now = Date.now, random = Math.random, ...run }: Differences = {}) =>
  startRun(
    { source: 'calculations', compression: 'gzip', platform: 'acme.example.com', selection: {}, ...run },
    { store, now, random },
  );

/** The counts of a process that has sent no request. */
export const noCalls = () => ({ requests: 0, retries: 0, throttled: 0, waitedMs: 0 });

/** Takes a slice of a run. By default it ends with the scan. */
export const sliceIn = (
  store: Store,
  saved: Saved,
  options: Pick<SliceOptions, 'scan'> & Partial<SliceOptions>,
) => takeSlice(saved, { store, callCounts: noCalls, ...options });
