import type { DurableContext } from '@aws/durable-execution-sdk-js';
import { type InHand, traced } from '../../lib/base/aws/index.ts';
import { afterStepFailure, type DurableSteps } from '../../lib/snapshot/index.ts';

/** Options for `durableSteps`. */
export type StepsOptions = {
  /** Returns numbers from 0 up to 1. Default: `Math.random`. */
  readonly random?: () => number;
  /** Called for each failed attempt of a step. Default: not called. */
  readonly onFailed?: (failed: FailedStep) => void;
  /** Records each step as work in progress. Default: not recorded. */
  readonly inHand?: InHand;
};

/** A failed attempt of a step. `attempt`: 1 is the first. `delayMs`: undefined after the last attempt. */
type FailedStep = {
  readonly step: string;
  readonly attempt: number;
  readonly delayMs: number | undefined;
  readonly err: Error;
};

/** The steps and waits of a durable execution in Lambda. */
export const durableSteps = (
  context: DurableContext,
  { random = Math.random, onFailed = () => undefined, inHand }: StepsOptions = {},
): DurableSteps => ({
  step: (name, act) =>
    context.step(
      name,
      async () => {
        using _ = inHand?.hold({ step: name });
        return await traced('step', { step: name }, act);
      },
      {
        retryStrategy: (err, attempt) => {
          const after = afterStepFailure(err, attempt, random());
          const delayMs = after.kind === 'retry' ? after.delayMs : undefined;
          onFailed({ step: name, attempt, delayMs, err });
          return delayMs === undefined
            ? { shouldRetry: false }
            : { shouldRetry: true, delay: { seconds: seconds(delayMs) } };
        },
      },
    ),
  wait: (ms) => context.wait({ seconds: seconds(ms) }),
  remainingMs: () => context.lambdaContext.getRemainingTimeInMillis(),
  // The whole time limit, since the invocation has only just started.
  limitMs: context.lambdaContext.getRemainingTimeInMillis(),
});

/** Converts milliseconds to a duration of Lambda: whole seconds, at least one. */
const seconds = (ms: number) => Math.max(1, Math.ceil(ms / 1000));
