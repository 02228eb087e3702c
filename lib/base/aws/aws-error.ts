import { firstLine, messageOf } from '../json/faults.ts';
import { type AwsFault, type AwsFaultKind, kindOfFault, readAwsFault } from './fault.ts';

/** Why a service did not do what was requested; `code` is the one that the service or Node gave. */
export type AwsFailure =
  | { readonly kind: 'missing'; readonly code: string }
  /** The SDK has no region or no credentials: `expected` names the settings. Nothing was sent. */
  | { readonly kind: 'unconfigured'; readonly code: string; readonly expected: string }
  | { readonly kind: AwsFaultKind; readonly code: string };

/** Of services without an error of their own. Its message says what was tried, on what, and what came back. */
export class AwsError extends Error {
  override readonly name: string = 'AwsError';
  readonly failure: AwsFailure;

  /** `tried` names the action and its object: `delete a message of https://sqs…/jobs`. */
  constructor(tried: string, cause: unknown) {
    const fault = readAwsFault(cause);
    const { code, message } = fault;
    const words = firstLine(message);
    super(messageOf(`${tried}: ${code}${words ? `: ${words}` : ''}`), { cause });
    this.failure = failureOf(fault);
  }
}

function failureOf(fault: AwsFault): AwsFailure {
  const { code, missing } = fault;
  if (missing !== undefined) return { kind: 'unconfigured', code, expected: missing };
  return { kind: MISSING_CODES.includes(code) ? 'missing' : kindOfFault(fault), code };
}

const MISSING_CODES: readonly string[] = [
  'AWS.SimpleQueueService.NonExistentQueue',
  'EntityNotFoundException',
  'ParameterNotFound',
  'ParameterVersionNotFound',
  'QueueDoesNotExist',
  'ResourceNotFoundException',
];

/** What a service reports about one entry of a batch, as an error that can be a cause. */
export const entryError = (code = 'unknown', message = ''): Error =>
  Object.assign(new Error(message), { name: code });

/** Runs the work and throws its errors as `AwsError`; the caller's own abort passes through. */
export async function asAwsError<T>(tried: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    throw new AwsError(tried, error);
  }
}
