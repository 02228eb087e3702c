import { firstLine, messageOf } from '../json/faults.ts';
import { type Part, ServiceError } from './service-error.ts';

/** The parts of an SDK error that decisions need. */
export type AwsFault = {
  /** The code that the service or Node gave; `HTTP 502` if something else responded, or the service gave no code. */
  readonly code: string;
  readonly message: string;
  /** Undefined if there was no response. A failure that S3 reports in the body of a 200 has 503 here. */
  readonly status: number | undefined;
  readonly attempts: number;
  /** The settings that the SDK found no value in; undefined if none is missing. Then it has sent no request. */
  readonly missing?: string;
};

export function readAwsFault(error: unknown): AwsFault {
  const { httpStatusCode: status, attempts = 1 } = metadataOf(error);
  const missing = status === undefined ? missingSettings(error) : undefined;
  if (missing !== undefined) return { ...missing, status, attempts: 0 };
  if (!(error instanceof Error)) return { code: 'unknown', message: '', status, attempts };
  const message = isUnreadable(error, status) ? NOT_OF_AWS : error.message;
  return { code: codeOf(error, status), message, status, attempts };
}

/** The parser's own words quote what it could not parse, such as a page of a proxy. */
const isUnreadable = ({ name }: Error, status: number | undefined): boolean =>
  status !== undefined && name === 'SyntaxError';

const NOT_OF_AWS = 'the response is not from this service';

function codeOf(error: Error, status: number | undefined): string {
  if (status !== undefined) return CODELESS_NAMES.includes(error.name) ? `HTTP ${status}` : error.name;
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

// The SDK's names for a response without a code, and for one that it cannot parse.
const CODELESS_NAMES: readonly string[] = ['Unknown', 'UnknownError', 'SyntaxError'];

/** `busy`: at its limit, blocked by another write, or failing. `unreachable`: no response, or an incomplete one. */
export type AwsFaultKind = 'denied' | 'busy' | 'unreachable' | 'other';

export function kindOfFault({ code, status }: AwsFault): AwsFaultKind {
  // Codes take precedence over statuses: most services deny and throttle with 400, and S3 may do either with 200.
  if (status === 401 || status === 403 || DENIED_CODES.includes(code)) return 'denied';
  // Of a key, each service spells codes its own way, and Lambda gives them all 502.
  if (KEY_CODE.test(code)) return BUSY_KEY.test(code) ? 'busy' : 'denied';
  if (BUSY_CODES.includes(code) || status === 429 || (status !== undefined && status >= 500)) return 'busy';
  if (status === undefined) return UNREACHABLE_CODE.test(code) ? 'unreachable' : 'other';
  return status < 400 || code === 'RequestTimeout' ? 'unreachable' : 'other';
}

/** Codes of errors thrown before any request is sent. */
export const UNSENT_CODES: readonly string[] = [
  'CredentialsProviderError',
  'MissingRegion',
  'TokenProviderError',
];

const DENIED_CODES: readonly string[] = [
  ...UNSENT_CODES,
  'AccessDenied',
  'AccessDeniedException',
  'ExpiredToken',
  'ExpiredTokenException',
  'IncompleteSignature',
  'IncompleteSignatureException',
  'InvalidClientTokenId',
  'InvalidSignatureException',
  'InvalidToken',
  'MissingAuthenticationToken',
  'MissingAuthenticationTokenException',
  'TokenRefreshRequired',
  'UnrecognizedClientException',
];

/** `KMS.DisabledException` of S3, `KmsDisabled` of SQS, `KMSDisabledException` of SNS and Lambda. */
const KEY_CODE = /^kms/i;
const BUSY_KEY = /throttl|timeout|internal|unavailable/i;

const BUSY_CODES: readonly string[] = [
  'ConcurrentModificationException',
  'ConditionalRequestConflict',
  'InternalError',
  'InternalFailure',
  'OperationAborted',
  'OverLimit',
  'ProvisionedThroughputExceededException',
  'ReplicatedWriteConflictException',
  'RequestLimitExceeded',
  'RequestThrottled',
  'ResourceConflictException',
  'SlowDown',
  'Throttling',
  'ThrottlingException',
  'TooManyRequestsException',
  'TransactionConflictException',
];

// Node's system calls, its proxy and TLS errors, and the SDK's time-outs.
const UNREACHABLE_CODE =
  /^(E[A-Z_]+|ERR_(STREAM_PREMATURE_CLOSE|PROXY|TLS|SSL)\w*|\w*CERT\w*|UNABLE_TO_VERIFY_LEAF_SIGNATURE|TimeoutError)$/;

type Metadata = { readonly httpStatusCode?: number; readonly attempts?: number };

const metadataOf = (error: unknown): Metadata =>
  error instanceof Error &&
  '$metadata' in error &&
  typeof error.$metadata === 'object' &&
  error.$metadata !== null
    ? error.$metadata
    : {};

/** The SDK gives a missing region no name, and one name to all faults of credentials: only its words differ. */
function missingSettings(error: unknown): Pick<AwsFault, 'code' | 'message' | 'missing'> | undefined {
  if (!(error instanceof Error)) return undefined;
  const found = SETTINGS.find(({ words }) => error.message.startsWith(words));
  if (found === undefined) return undefined;
  const { code, missing } = found;
  return { code, missing, message: `expected ${missing}, got none` };
}

/** `code` is ours where the SDK has none. */
const SETTINGS = [
  {
    words: 'Region is missing',
    code: 'MissingRegion',
    missing: 'an AWS region in AWS_REGION, AWS_DEFAULT_REGION or the profile of AWS_PROFILE',
  },
  {
    words: 'Could not load credentials from any providers',
    code: 'CredentialsProviderError',
    missing:
      'AWS credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the profile of AWS_PROFILE or a role',
  },
] as const;

/** Why a service did not do what was requested; `code` is the one that the service or Node gave. */
export type AwsFailure =
  | { readonly kind: 'missing'; readonly code: string }
  /** The SDK has no region or no credentials: `expected` names the settings. Nothing was sent. */
  | { readonly kind: 'unconfigured'; readonly code: string; readonly expected: string }
  | { readonly kind: AwsFaultKind; readonly code: string };

/** Of services without an error of their own. Its message says what was tried, on what, and what came back. */
export class AwsError extends ServiceError {
  override readonly name: string = 'AwsError';
  readonly part: Part;
  readonly failure: AwsFailure;

  /** `tried` names the action and its object: `delete a message of https://sqs…/jobs`. */
  constructor(part: Part, tried: string, cause: unknown) {
    const fault = readAwsFault(cause);
    const { code, message } = fault;
    const words = firstLine(message);
    super(messageOf(`${tried}: ${code}${words ? `: ${words}` : ''}`), { cause });
    this.part = part;
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
export async function asAwsError<T>(
  {
    part,
    tried,
    signal,
  }: { readonly part: Part; readonly tried: string; readonly signal?: AbortSignal | undefined },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    throw new AwsError(part, tried, error);
  }
}
