import { afterStepFailure } from '../../lib/snapshot/durable/after-step-failure.ts';
import type { DurableSteps } from '../../lib/snapshot/durable/durable-steps.ts';
import { StoreError } from '../../lib/store/error.ts';

/** What befalls one try of a step. */
export type Mishap =
  /** It fails before it does anything. */
  | 'fails-before'
  /** All that it does is done, and then it fails. */
  | 'fails-after'
  /** The invocation ends when all is done, before the answer is kept. */
  | 'killed-after'
  /** The invocation is given up while the step goes on, beside the one that comes after it. */
  | 'outlived';

export type FakeDurableOptions = {
  /** Asked for each try of a step, 1 the first of all. Default: nothing befalls any. */
  readonly mishap?: (attempt: number) => Mishap | undefined;
  /** What is left of an invocation, by how often it was asked in it; 1 is the first time. Default: 900,000. */
  readonly remainingMs?: (asked: number) => number;
};

/** What was kept of an execution, in its order. `answer` is JSON. */
type Kept =
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'step'; readonly name: string; readonly answer: string }
  | { readonly kind: 'failed'; readonly name: string; readonly error: Error };

/** How an execution went: what it answered or threw, what was kept, and how many invocations it took. */
export type DurableOutcome<T> = {
  readonly result: PromiseSettledResult<T>;
  readonly kept: readonly Kept[];
  readonly invocations: number;
};

/** Not a failure of a step, and so never seen by what is run. */
type Suspended = { readonly kind: 'suspended' };

/** A failure that may pass. */
const passing = () => new StoreError('put a part', { kind: 'busy', code: 'SlowDown' });

const MOST_INVOCATIONS = 500;

/**
 * Runs something as a durable execution, in memory and without waiting: from its beginning in each invocation, with the
 * answers that were kept. Throws if an invocation does not come by what an earlier one came by.
 */
export async function runDurable<T>(
  run: (steps: DurableSteps) => Promise<T>,
  { mishap = () => undefined, remainingMs = () => 900_000 }: FakeDurableOptions = {},
): Promise<DurableOutcome<T>> {
  const kept: Kept[] = [];
  const background: Promise<unknown>[] = [];
  let tries = 0;
  let failures = 0;

  const invoke = (): Promise<Suspended | PromiseSettledResult<T>> =>
    new Promise((resolve, reject) => {
      let at = 0;
      let asked = 0;
      const suspend = (): Promise<never> => {
        resolve({ kind: 'suspended' });
        return new Promise(() => undefined);
      };
      const replayed = (told: string): Kept | undefined => {
        const before = kept[at];
        at += 1;
        const was = before === undefined || before.kind === 'wait' ? before?.kind : before.name;
        if (was !== undefined && was !== told) reject(new Error(`came by ${told} where it was ${was}`));
        return before;
      };
      const tryStep = async (name: string, act: () => Promise<unknown>): Promise<unknown> => {
        tries += 1;
        const met = mishap(tries);
        try {
          if (met === 'fails-before') throw passing();
          const acting = act();
          if (met === 'outlived') {
            background.push(acting.catch(() => undefined));
            return await suspend();
          }
          const answer = JSON.stringify(await acting);
          if (met === 'fails-after') throw passing();
          if (met === 'killed-after') return await suspend();
          kept.push({ kind: 'step', name, answer });
          failures = 0;
          return JSON.parse(answer);
        } catch (error) {
          failures += 1;
          if (afterStepFailure(error, failures, 0).kind === 'retry') return suspend();
          kept.push({ kind: 'failed', name, error: error as Error });
          throw error;
        }
      };
      const steps: DurableSteps = {
        step: async <A>(name: string, act: () => Promise<A>) => {
          const before = replayed(name);
          if (before?.kind === 'failed') throw before.error;
          return (before?.kind === 'step' ? JSON.parse(before.answer) : tryStep(name, act)) as A;
        },
        wait: async (ms) => {
          if (replayed('wait') !== undefined) return;
          kept.push({ kind: 'wait', ms });
          await suspend();
        },
        remainingMs: () => {
          asked += 1;
          return remainingMs(asked);
        },
      };
      run(steps).then(
        (value) => resolve({ status: 'fulfilled', value }),
        (reason) => resolve({ status: 'rejected', reason }),
      );
    });

  for (let invocations = 1; invocations <= MOST_INVOCATIONS; invocations += 1) {
    const ended = await invoke();
    if ('kind' in ended) continue;
    await Promise.all(background);
    return { result: ended, kept, invocations };
  }
  throw new Error(`not ended after ${MOST_INVOCATIONS} invocations`);
}
