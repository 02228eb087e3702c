/** The message to a runner: one invocation, with the facts of its context. */
export type Invocation = {
  readonly id: string;
  readonly event: unknown;
  /** The deadline in epoch milliseconds. */
  readonly deadlineMs: number;
  readonly functionName: string;
  readonly functionArn: string;
  readonly memoryMb: number;
};

/** An error as Lambda returns it. */
export type ThrownError = {
  readonly errorType: string;
  readonly errorMessage: string;
  readonly trace: readonly string[];
};

/** A message of a runner: first that it is ready (`id` is `startId`), then one reply for each invocation. */
export type Reply =
  | { readonly id: string; readonly kind: 'result'; readonly result: unknown }
  | { readonly id: string; readonly kind: 'threw'; readonly error: ThrownError };

/** The id of the reply for loading the handler. */
export const START_ID = 'start';

export type HandlerFailure =
  | { readonly kind: 'threw'; readonly error: ThrownError }
  | { readonly kind: 'died'; readonly exit: string }
  | { readonly kind: 'timeout'; readonly timeoutMs: number }
  | { readonly kind: 'closed' };

/** A handler returned no result. `step` is `load` or `invoke`. */
export class HandlerError extends Error {
  override readonly name = 'HandlerError';
  readonly failure: HandlerFailure;

  constructor(step: 'load' | 'invoke', functionName: string, failure: HandlerFailure) {
    super(`${step} ${functionName}: ${describe(failure)}`);
    this.failure = failure;
  }
}

function describe(failure: HandlerFailure): string {
  switch (failure.kind) {
    case 'threw':
      return `threw ${failure.error.errorType}: ${failure.error.errorMessage}`;
    case 'died':
      return `its process ended: ${failure.exit}`;
    case 'timeout':
      return `timed out after ${failure.timeoutMs} ms`;
    case 'closed':
      return 'closed before it returned';
    default:
      return failure satisfies never;
  }
}
