import { messageOf } from '../base/index.ts';
import { describeFailure, type PlatformFailure, wasSent } from './failure.ts';

/** Where an error came from: the operation, what it was about, the host, and how many attempts were made. */
export type CallContext = {
  readonly operation: string;
  readonly about: string;
  /** Absent if nothing was to be sent. */
  readonly host?: string | undefined;
  readonly attempts: number;
};

/**
 * The one error of the client. `failure` says what happened, `sent` whether the platform may have acted on any of
 * the attempts. Neither it nor its `cause` ever holds the token or a whole body.
 */
export class PlatformError extends Error {
  override readonly name = 'PlatformError';
  readonly failure: PlatformFailure;
  readonly sent: boolean;
  readonly operation: string;
  readonly attempts: number;

  constructor(
    failure: PlatformFailure,
    context: CallContext,
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
