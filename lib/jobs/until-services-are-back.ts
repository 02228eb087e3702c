import { backoffMs } from '../time/backoff.ts';
import type { Worker } from './handle-message.ts';
import { isServiceAway } from './service-away.ts';

/** Waits between two looks at the table and the store. */
const LOOKS = { baseDelayMs: 1_000, maxDelayMs: 10_000 };

/** A name that neither a job nor an object has. */
const NOTHING = '-';

export type ServicesOptions = {
  readonly worker: Pick<Worker, 'ledger' | 'store' | 'logger' | 'random'>;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
};

/** Waits until the table and the store respond again, and returns true; false if the signal ended the wait. */
export async function untilServicesAreBack({ worker, sleep, signal }: ServicesOptions): Promise<boolean> {
  const { ledger, store, logger, random } = worker;
  for (let look = 1; ; look += 1) {
    try {
      await Promise.all([ledger.read(NOTHING), store.get(`work/${NOTHING}`)]);
      if (look > 1) logger.info('the table and the store are back');
      return true;
    } catch (err) {
      // Any other failure is not an outage: the next job shows what it does.
      if (!isServiceAway(err)) return true;
      if (look === 1) logger.warn({ err }, 'the table or the store is away: no jobs are taken');
    }
    await sleep(backoffMs(look, 0.5 + random() / 2, LOOKS), signal).catch(() => undefined);
    if (signal.aborted) return false;
  }
}
