import { messageOf } from '../base/index.ts';
import { describeFailure, type PlatformFailure, wasSent } from './failure.ts';

/**
 * The error of the client. `failure` says what happened, as a union on `kind`. Neither the error nor its `cause`
 * contains the token or a complete body.
 *
 * ```ts
 * if (error instanceof PlatformError && error.failure.kind === 'status' && error.failure.status === 404) return
 * undefined;
 * ```
 */
export class PlatformError extends Error {
  override readonly name = 'PlatformError';
  readonly failure: PlatformFailure;
  /** Whether the platform may have acted on any of the attempts. */
  readonly sent: boolean;
  /** The operation's name, such as `searchFiles`. */
  readonly operation: string;
  /** The number of attempts that were made; 0 if the input was invalid. */
  readonly attempts: number;

  constructor(
    failure: PlatformFailure,
    /** Where the error came from: the operation, its record, the host, and the number of attempts. */
    context: {
      readonly operation: string;
      readonly about: string;
      /** The host; absent if nothing was to be sent. */
      readonly host?: string | undefined;
      readonly attempts: number;
    },
    options?: { readonly cause?: unknown; readonly sent?: boolean },
  ) {
    const tries = context.attempts > 1 ? ` after ${context.attempts} attempts` : '';
    const at = context.host === undefined ? '' : ` at ${context.host}`;
    const tried = `${context.operation} (${context.about})${at} failed${tries}`;
    super(messageOf(`${tried}: ${describeFailure(failure)}`), {
      ...(options?.cause === undefined ? {} : { cause: options.cause }),
    });
    this.failure = failure;
    this.sent = options?.sent ?? wasSent(failure);
    this.operation = context.operation;
    this.attempts = context.attempts;
  }
}
