import type { ThrownError } from './invocation.ts';

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
