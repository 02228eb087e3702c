import type { DurableContext } from '@aws/durable-execution-sdk-js';
import { afterStepFailure } from '../../lib/snapshot/durable/after-step-failure.ts';
import type { DurableSteps } from '../../lib/snapshot/durable/durable-steps.ts';

/** The steps and waits of a durable execution in Lambda. `random` returns numbers from 0 up to 1. */
export const durableSteps = (context: DurableContext, random = Math.random): DurableSteps => ({
  step: (name, act) =>
    context.step(name, act, { retryStrategy: (error, attempt) => retryAfter(error, attempt, random()) }),
  wait: (ms) => context.wait({ seconds: seconds(ms) }),
  remainingMs: () => context.lambdaContext.getRemainingTimeInMillis(),
});

function retryAfter(error: Error, attempt: number, random: number) {
  const after = afterStepFailure(error, attempt, random);
  return after.kind === 'stop'
    ? { shouldRetry: false }
    : { shouldRetry: true, delay: { seconds: seconds(after.delayMs) } };
}

/** Durations are whole seconds, and at least one. */
const seconds = (ms: number) => Math.max(1, Math.ceil(ms / 1000));
