import * as z from 'zod/mini';
import { findStored, printStored, type Store } from '../store/index.ts';

type FailuresOptions = {
  readonly store: Store;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Called with how many failures there were in `OFTEN_MS`, from the third on, and where the store itself is away. */
  readonly onOften: (times: number) => void;
};

/** A look fails now and then, and the next one makes up for it: three times in this time it needs somebody. */
const OFTEN_MS = 70 * 60_000;
const OFTEN = 3;

const KEY = 'work/report-failures.json';

const schema = z.object({ version: z.literal(1), atMs: z.array(z.number()) });

/** How often writing the report or sending digests failed lately, over all processes. */
export function createFailures({ store, now, onOften }: FailuresOptions) {
  async function change(next: (atMs: readonly number[]) => readonly number[]): Promise<readonly number[]> {
    const stored = await findStored(store, KEY, schema);
    const before = (stored?.value.atMs ?? []).filter((each) => now() - each < OFTEN_MS);
    await store.put(KEY, printStored({ version: 1, atMs: next(before) }));
    return before;
  }
  return {
    /** Something failed just now. */
    async add(): Promise<void> {
      const before = await change((atMs) => [...atMs, now()]).catch(() => Array(OFTEN).fill(0));
      if (before.length + 1 >= OFTEN) onOften(before.length + 1);
    },
    /** Work whose process may be killed: a failure for as long as it has not ended. */
    async during<T>(work: () => Promise<T>): Promise<T> {
      const at = now();
      const before = await change((atMs) => [...atMs, at]).catch(() => []);
      if (before.length >= OFTEN) onOften(before.length);
      try {
        return await work();
      } finally {
        await change((atMs) => atMs.filter((each) => each !== at)).catch(() => undefined);
      }
    },
  };
}
