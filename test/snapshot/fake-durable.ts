import { afterStepFailure, type DurableSteps } from '../../lib/snapshot/durable/durable-snapshot.ts';
import { StoreError } from '../../lib/store/error.ts';

/** What goes wrong in one attempt of a step. */
export type Mishap =
  | 'fails-before'
  | 'fails-after'
  /** The step does everything, and the invocation ends before the result is stored. */
  | 'killed-after'
  /** The invocation ends while the step continues, concurrently with the next invocation. */
  | 'outlived';

export type FakeDurableOptions = {
  /** Called for each attempt of any step (1 is the very first). Default: nothing goes wrong. */
  readonly mishap?: (attempt: number) => Mishap | undefined;
  /** The milliseconds left in an invocation, each time it is asked for (1 is the first time). Default: 900,000. */
  readonly remainingMs?: (calls: number) => number;
  /** The time limit of an invocation in milliseconds. Default: 900,000. */
  readonly limitMs?: number;
};

/** What is stored of an execution, in order. `result` is JSON. */
type StoredEntry =
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'step'; readonly name: string; readonly result: string }
  | { readonly kind: 'failed'; readonly name: string; readonly error: Error };

/** The end of an execution: what it returned or threw, what was stored, and the number of invocations. */
export type DurableOutcome<T> = {
  readonly result: PromiseSettledResult<T>;
  readonly stored: readonly StoredEntry[];
  readonly invocations: number;
};

/** The end of an invocation that waits. The code under test never sees it. */
type Suspended = { readonly kind: 'suspended' };

/** An error that is retried. */
const temporary = () => new StoreError('put a part', { kind: 'busy', code: 'SlowDown' });

const MAX_INVOCATIONS = 500;

/**
 * Runs a function as a durable execution, in memory and without waiting: each invocation runs it from its beginning,
 * with the stored results of earlier steps. Throws if an invocation reaches other steps and waits than an earlier one.
 */
export async function runDurable<T>(
  run: (steps: DurableSteps) => Promise<T>,
  { mishap = () => undefined, remainingMs = () => 900_000, limitMs = 900_000 }: FakeDurableOptions = {},
): Promise<DurableOutcome<T>> {
  const stored: StoredEntry[] = [];
  const background: Promise<unknown>[] = [];
  let tries = 0;
  let failures = 0;

  const invoke = (): Promise<Suspended | PromiseSettledResult<T>> =>
    new Promise((resolve, reject) => {
      let at = 0;
      let calls = 0;
      const suspend = (): Promise<never> => {
        resolve({ kind: 'suspended' });
        return new Promise(() => undefined);
      };
      const replayed = (reached: string): StoredEntry | undefined => {
        const before = stored[at];
        at += 1;
        const was = before === undefined || before.kind === 'wait' ? before?.kind : before.name;
        if (was !== undefined && was !== reached) reject(new Error(`reached ${reached} instead of ${was}`));
        return before;
      };
      const tryStep = async (name: string, act: () => Promise<unknown>): Promise<unknown> => {
        tries += 1;
        const mishapOfTry = mishap(tries);
        try {
          if (mishapOfTry === 'fails-before') throw temporary();
          const acting = act();
          if (mishapOfTry === 'outlived') {
            background.push(acting.catch(() => undefined));
            return await suspend();
          }
          const result = JSON.stringify(await acting);
          if (mishapOfTry === 'fails-after') throw temporary();
          if (mishapOfTry === 'killed-after') return await suspend();
          stored.push({ kind: 'step', name, result });
          failures = 0;
          return JSON.parse(result);
        } catch (error) {
          failures += 1;
          if (afterStepFailure(error, failures, 0).kind === 'retry') return suspend();
          stored.push({ kind: 'failed', name, error: error as Error });
          throw error;
        }
      };
      const steps: DurableSteps = {
        step: async <A>(name: string, act: () => Promise<A>) => {
          const before = replayed(name);
          if (before?.kind === 'failed') throw before.error;
          return (before?.kind === 'step' ? JSON.parse(before.result) : tryStep(name, act)) as A;
        },
        wait: async (ms) => {
          if (replayed('wait') !== undefined) return;
          stored.push({ kind: 'wait', ms });
          await suspend();
        },
        limitMs,
        remainingMs: () => {
          calls += 1;
          return remainingMs(calls);
        },
      };
      run(steps).then(
        (value) => resolve({ status: 'fulfilled', value }),
        (reason) => resolve({ status: 'rejected', reason }),
      );
    });

  for (let invocations = 1; invocations <= MAX_INVOCATIONS; invocations += 1) {
    const ended = await invoke();
    if ('kind' in ended) continue;
    await Promise.all(background);
    return { result: ended, stored, invocations };
  }
  throw new Error(`not finished after ${MAX_INVOCATIONS} invocations`);
}
