import { type AwsFaultKind, kindOfFault, readAwsFault } from './fault.ts';

/** Why a service did not do what it was asked; `code` is the service's own or Node's. */
export type AwsFailure =
  /** What was asked for is not there. */
  | { readonly kind: 'missing'; readonly code: string }
  | { readonly kind: AwsFaultKind; readonly code: string };

/**
 * The one error of services that have none of their own: SQS, Secrets Manager, EventBridge and Lambda. Its message says
 * what was tried, on what, and what came back.
 */
export class AwsError extends Error {
  override readonly name = 'AwsError';
  readonly failure: AwsFailure;

  /** `tried` names the act and its object: `delete a message of https://sqs…/jobs`. */
  constructor(tried: string, cause: unknown) {
    const fault = readAwsFault(cause);
    const { code, message } = fault;
    // The SDK adds lines for programmers.
    const [said] = message.split('\n', 1);
    super(`${tried}: ${code}${said ? `: ${said}` : ''}`, { cause });
    this.failure = { kind: MISSING_CODES.includes(code) ? 'missing' : kindOfFault(fault), code };
  }
}

const MISSING_CODES: readonly string[] = [
  'AWS.SimpleQueueService.NonExistentQueue',
  'QueueDoesNotExist',
  'ResourceNotFoundException',
];

/** What a service reports of one entry among several, as an error that can be a cause. */
export const entryError = (code = 'unknown', message = ''): Error =>
  Object.assign(new Error(message), { name: code });

/** Does the work, and throws what it throws as an `AwsError`; the caller's own abort passes through. */
export async function asAwsError<T>(tried: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    throw new AwsError(tried, error);
  }
}
