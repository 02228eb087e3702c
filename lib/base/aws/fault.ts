import { firstLine, messageOf } from '../faults.ts';

/** The parts of an SDK error that decisions need. */
type AwsFault = {
  /**
   * The error code of the service or of Node. It is `HTTP` with the status, such as `HTTP 502`, if a server
   * other than the service responded or the service gave no code, and `KMS.AccessDenied` if a KMS key may not be used.
   */
  readonly code: string;
  readonly message: string;
  /**
   * The HTTP status; undefined if there was no response. It is 503 for a failure that S3 reports in the body of a 200.
   */
  readonly status: number | undefined;
  readonly attempts: number;
  /** The settings that the SDK lacks, so that no request was sent; undefined if no setting is missing. */
  readonly missing?: string;
};

/** Reads the parts of any error of the SDK. Never throws. */
export function readAwsFault(error: unknown): AwsFault {
  const { httpStatusCode: status, attempts = 1 } = metadataOf(error);
  const missing = status === undefined ? missingSettings(error) : undefined;
  if (missing !== undefined) return { ...missing, status, attempts: 0 };
  if (!(error instanceof Error)) return { code: 'unknown', message: '', status, attempts };
  const message = isUnreadable(error, status) ? NOT_FROM_AWS : error.message;
  return { code: codeOf(error, status), message, status, attempts };
}

/**
 * Whether the SDK could not parse the response. The parser's message is not shown, since it quotes the response,
 * such as the page of a proxy.
 */
const isUnreadable = ({ name }: Error, status: number | undefined): boolean =>
  status !== undefined && name === 'SyntaxError';

const NOT_FROM_AWS = 'the response is not from this service';

function codeOf(error: Error, status: number | undefined): string {
  if (ACCESS_DENIED.test(error.name) && OF_KEY.test(error.message)) return 'KMS.AccessDenied';
  if (status !== undefined) return CODELESS_NAMES.includes(error.name) ? `HTTP ${status}` : error.name;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  return code === 'ERR_PROXY_TUNNEL' && 'statusCode' in error
    ? `HTTP ${error.statusCode} of the proxy`
    : code;
}

/** S3, DynamoDB, Secrets Manager and Parameter Store show only in the message that a KMS key may not be used. */
const ACCESS_DENIED = /^AccessDenied(Exception)?$/;
const OF_KEY = /\bperform: kms:|Access to KMS|customer master key|\bKMS key\b/;

// The names that the SDK gives to the error of a response without a code, or of a response that it cannot parse.
const CODELESS_NAMES: readonly string[] = ['Unknown', 'UnknownError', 'SyntaxError'];

/** `busy`: the service is at its limit, blocked by another write, or failing. `unreachable`: no complete response. */
type AwsFaultKind = 'denied' | 'missing' | 'busy' | 'unreachable' | 'other';

/**
 * Classifies a fault. `busy` and `unreachable` pass with time. Any other kind has a remedy (`remedyOf`), or a
 * setting must be changed.
 */
export function kindOfFault({ code, status }: AwsFault): AwsFaultKind {
  // Codes take precedence over statuses: most services deny and throttle with 400, S3 may do either with 200, and
  // Lambda responds with 502 to faults of a function's network, code or key.
  const meant = meaningOf(code)?.kind;
  if (meant !== undefined) return meant;
  if (status === undefined) return UNREACHABLE_CODE.test(code) ? 'unreachable' : 'other';
  if (status === 401 || status === 403) return 'denied';
  if (status === 429 || (status >= 500 && !LASTING_STATUSES.includes(status))) return 'busy';
  // A redirect leads to a login, or to a bucket in another region.
  return status < 300 ? 'unreachable' : 'other';
}

/** Statuses of 500 and above that a retry does not change: not implemented, or no space left. */
const LASTING_STATUSES: readonly number[] = [501, 505, 507];

/** What a user can do about an error with this code; undefined if the advice about the setting is more precise. */
export const remedyOf = (code: string): string | undefined => meaningOf(code)?.remedy;

/** What a group of error codes means. The codes are the service's own, or those that Node and the SDK throw. */
type Meaning = { readonly kind: AwsFaultKind; readonly codes: RegExp; readonly remedy?: string };

const meaningOf = (code: string): Meaning | undefined => {
  const bare = code.replace(/^\d{3} |^AWS\.SimpleQueueService\.|Exception$/g, '');
  return MEANINGS.find(({ codes }) => codes.test(bare));
};

/** What to do about a wrong clock. */
export const CLOCK_ADVICE = 'set this machine’s clock (NTP): AWS refuses requests if it is off by 5 minutes';

/**
 * Error codes about a KMS key, which each service spells its own way: `KMS.DisabledException` (S3),
 * `KmsDisabled` (SQS), `DecryptionFailure` (Secrets Manager), `InvalidKeyId` (Parameter Store).
 */
const KEY_CODE = /^(kms|(Decryption|Encryption)Failure|GlueEncryption|InvalidKeyId)/i;

/** The error code of a server that responds to TLS with something else. */
const NO_TLS = /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/;

/**
 * The first match wins. A final `Exception` is removed from a code before it is compared, since only some services
 * write it. Sources: the errors of each call in its service's API reference, and Common
 * errors there; Node's errors of TLS and proxies.
 */
const MEANINGS: readonly Meaning[] = [
  {
    kind: 'busy',
    codes:
      /^(ConcurrentModification|ConditionalRequestConflict|DurableExecutionAlreadyStarted|EC2(Throttled|Unexpected)|EFSMount(Connectivity|Timeout)|ENI(LimitReached|NotReady)|FederationSourceRetryable|Internal(Error|Failure|ServerError|ServiceError|Service)?|KMS.*(throttl|timeout|internal|unavailable).*|OperationAborted|OperationTimeout|OverLimit|ProvisionedThroughputExceeded|ReplicatedWriteConflict|RequestLimitExceeded|RequestThrottled|ResourceConflict|ResourceNotReady|S3FilesMount(Connectivity|Timeout)|Service(Unavailable)?|SlowDown|SnapStart(NotReady|Timeout)|SubnetIPAddressLimitReached|TemporaryRedirect|Throttl(ing|ed)|TooManyRequests|TransactionConflict|TransactionInProgress)$/i,
  },
  { kind: 'unreachable', codes: /^(HTTP (502|503|504) of the proxy|RequestTimeout)$/ },
  {
    kind: 'unreachable',
    // Services redirect with 301 and 307, and a code.
    codes: /^HTTP (2\d\d|302|303|308)$/,
    remedy:
      'another server responded instead of AWS, such as the login page of a network: check the address and the network',
  },
  {
    kind: 'missing',
    codes:
      /^(EntityNotFound|NoPublishedVersion|NonExistentQueue|NotFound|Parameter(Version)?NotFound|QueueDoesNotExist|ResourceNotFound)$/,
  },
  {
    kind: 'denied',
    codes: /^(RequestTimeTooSkewed|RequestExpired)$/,
    remedy: CLOCK_ADVICE,
  },
  {
    kind: 'denied',
    codes: /^(ExpiredToken|TokenRefreshRequired|TokenProviderError)$/,
    remedy:
      'the AWS credentials have expired: renew them with `aws sso login`, or get new ones from where you got them',
  },
  {
    kind: 'denied',
    codes:
      /^(IncompleteSignature|InvalidAccessKeyId|InvalidClientTokenId|InvalidSecurity|InvalidSignature|InvalidToken|Missing(AuthenticationToken|SecurityHeader)|SignatureDoesNotMatch|UnrecognizedClient)$/,
    remedy:
      'the AWS credentials are not valid here: check the keys or the profile, that the region is enabled in their account, and this machine’s clock',
  },
  {
    kind: 'denied',
    codes: /^(AccountProblem|AllAccessDisabled|NotSignedUp|OptInRequired|SubscriptionRequired)$/,
    remedy: 'the account may not use this service or region: check its state in the AWS console',
  },
  {
    kind: 'denied',
    codes: /^(AccessDenied|AuthorizationError|CredentialsProviderError|MissingRegion|NotAuthorized\w*)$/,
  },
  {
    kind: 'other',
    codes:
      /^(AuthorizationHeaderMalformed|HTTP 301|IllegalLocationConstraint|InvalidEndpoint|PermanentRedirect)$/,
    remedy: 'set AWS_REGION to the region of this resource: it is in another one',
  },
  {
    kind: 'denied',
    codes: KEY_CODE,
    remedy:
      'check its KMS key: it must be enabled, and its policy and this role’s must allow kms:Decrypt and kms:GenerateDataKey',
  },
  {
    kind: 'other',
    codes: /^InvalidRequest$/,
    remedy:
      'if it is a secret that is marked for deletion: aws secretsmanager restore-secret; if it is a bucket: check its default encryption and object lock',
  },
  {
    kind: 'other',
    codes: /^(InvalidObjectState|ObjectNotInActiveTierError)$/,
    remedy:
      'the object is archived: restore it with aws s3api restore-object, and exclude the store’s prefix from the bucket’s rule that archives',
  },
  {
    kind: 'other',
    codes: /^((Resource)?(Number)?LimitExceeded|ServiceQuotaExceeded|ItemCollectionSizeLimitExceeded)$/,
    remedy: 'raise the quota in the Service Quotas console, or remove what is not needed',
  },
  {
    kind: 'other',
    codes: /^(HTTP 507|InsufficientStorage|QuotaExceeded|XMinio\w*(StorageFull|QuotaExceeded))$/,
    remedy: 'make room where the store is: platform-sync prune --keep 1 deletes old runs',
  },
  {
    kind: 'other',
    codes:
      /^(HTTP 501|InvalidAction|InvalidAddress|MethodNotAllowed|MissingParameter|NotImplemented|UnknownOperation|UnsupportedOperation)$/,
    remedy:
      'this endpoint or resource lacks a feature that is needed here (a queue must not be FIFO): docs/conformance.md lists engines that have all of them',
  },
  {
    kind: 'denied',
    codes:
      /^(CodeArtifactUser\w+|EC2AccessDenied|EFS(IO|MountFailure)|Invalid(Runtime|SecurityGroupID|SubnetID|ZipFile)|RecursiveInvocation|S3FilesMountFailure|SnapStart(RegenerationFailure)?)$/,
    remedy:
      'the function cannot start: check its role, subnets and state in the Lambda console, or deploy again',
  },
  {
    kind: 'denied',
    codes:
      /^(UNABLE_TO_(GET_ISSUER_CERT(_LOCALLY)?|VERIFY_LEAF_SIGNATURE)|(DEPTH_ZERO_)?SELF_SIGNED_CERT(_IN_CHAIN)?|CERT_(UNTRUSTED|SIGNATURE_FAILURE))$/,
    remedy:
      'Node does not trust the authority that issued its certificate, such as a company’s proxy: set NODE_EXTRA_CA_CERTS to a file with the authority’s certificate in PEM, or start with NODE_USE_SYSTEM_CA=1 if this machine trusts it (docs/network.md)',
  },
  {
    kind: 'denied',
    codes: /^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/,
    remedy:
      'its certificate has expired or is not valid yet: check this machine’s clock; if the clock is right, the server needs a new certificate',
  },
  {
    kind: 'denied',
    codes: /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    remedy:
      'its certificate is for another host: check the address, and whether another server, such as a login page of this network, responds instead',
  },
  {
    kind: 'denied',
    codes: /^CERT_\w+$/,
    remedy: 'its certificate was refused: ask the operator of the server for a new one',
  },
  {
    kind: 'unreachable',
    codes: NO_TLS,
    remedy:
      'the server there does not speak TLS: check the address and its port, and whether another server responds instead; the address of most proxies begins with http://, even in HTTPS_PROXY',
  },
  {
    kind: 'denied',
    codes: /^HTTP 4\d\d of the proxy$/,
    remedy:
      'check that HTTPS_PROXY has the credentials that the proxy requires, and that the proxy allows connections to this host',
  },
];

/** Error codes of Node's system calls, its proxy and TLS errors, and the SDK's time-outs. */
const UNREACHABLE_CODE = /^(E[A-Z_]+|ERR_(STREAM_PREMATURE_CLOSE|PROXY|TLS|SSL)\w*|TimeoutError)$/;

const metadataOf = (error: unknown): { readonly httpStatusCode?: number; readonly attempts?: number } =>
  error instanceof Error &&
  '$metadata' in error &&
  typeof error.$metadata === 'object' &&
  error.$metadata !== null
    ? error.$metadata
    : {};

/**
 * The settings that the SDK found missing. They can be recognized only by the error's message: a missing region has no
 * code, and all faults of credentials have the same code.
 */
function missingSettings(error: unknown): Pick<AwsFault, 'code' | 'message' | 'missing'> | undefined {
  if (!(error instanceof Error)) return undefined;
  const found = SETTINGS.find(({ words }) => error.message.startsWith(words));
  if (found === undefined) return undefined;
  const { code, missing } = found;
  return { code, missing, message: `expected ${missing}, got none` };
}

/** The SDK's messages about missing settings, each with an error code and our words for the settings. */
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

/** Why a service did not do what was requested. `code` is the service's or Node's error code. */
type AwsFailure =
  /** The SDK has no region or no credentials; `expected`: the settings in words. Nothing was sent. */
  | { readonly kind: 'unconfigured'; readonly code: string; readonly expected: string }
  | { readonly kind: AwsFaultKind; readonly code: string };

/** A failure of one of the `resources`. Its message says what was tried, on what, and what came back. */
export abstract class ServiceError extends Error {
  abstract override readonly name: string;
  abstract readonly resource: Resource;
  abstract readonly failure: Readonly<Partial<Record<'code' | 'what' | 'got', string>>> & {
    readonly kind: string;
  };
}

/**
 * The error of services other than the store and the table. Its message says what was tried, on what, and what came
 * back.
 */
export class AwsError extends ServiceError {
  override readonly name: string = 'AwsError';
  readonly resource: Resource;
  readonly failure: AwsFailure;

  /** `tried`: what was tried, and on what: `delete a message of https://sqs…/jobs`. */
  constructor(resource: Resource, tried: string, cause: unknown) {
    const fault = readAwsFault(cause);
    const { code, message } = fault;
    const words = firstLine(message);
    super(messageOf(`${tried}: ${code}${words ? `: ${words}` : ''}`), { cause });
    this.resource = resource;
    this.failure = failureOf(fault);
  }
}

function failureOf(fault: AwsFault): AwsFailure {
  const { code, missing } = fault;
  if (missing !== undefined) return { kind: 'unconfigured', code, expected: missing };
  return { kind: kindOfFault(fault), code };
}

/** The failure of one entry of a batch request, as an error that can be a cause. */
export const entryError = (code = 'unknown', message = ''): Error =>
  Object.assign(new Error(message), { name: code });

/** Runs `work`, and throws its errors as `AwsError`. The caller's own abort is thrown unchanged. */
export async function asAwsError<T>(
  {
    resource,
    tried,
    signal,
  }: { readonly resource: Resource; readonly tried: string; readonly signal?: AbortSignal | undefined },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    throw new AwsError(resource, tried, error);
  }
}

/** The services that platform-sync needs besides the platform, by their names in alarms. */
export const resources = [
  'table',
  'store',
  'queue',
  'event-bus',
  'snapshot-function',
  'token',
  'catalog',
  'topic',
  'stack',
  /** A KMS key that encrypts another resource. */
  'key',
] as const;

/** The name of a resource in errors and alarms. */
type Resource = (typeof resources)[number];

/** A permanent failure: the resource does not exist, or may not be used. */
type LastingFailure = {
  readonly resource: Resource;
  readonly problem: 'ResourceMissing' | 'ResourceRefused';
  /**
   * Whether a disk of this machine is full, read-only or broken, according to the error code of the operating system or
   * SQLite.
   */
  readonly isOfDisk: boolean;
};

/** Whether an error passes with time, since a resource did not respond or was at its limit. */
export const isPassing = (error: unknown): boolean =>
  error instanceof ServiceError && PASSING.includes(error.failure.kind);

const PASSING: readonly string[] = ['busy', 'unreachable'];

/** The kinds of failures that concern a resource as a whole, and not just one key, row or object. */
const WHOLE_RESOURCE_KINDS: readonly string[] = [
  'bad-table',
  'denied',
  'full',
  'other',
  'read-only',
  'unconfigured',
];

/** At most this many causes of an error are followed, since two errors may be each other's cause. */
const MAX_CAUSES = 10;

/** The permanent failure of a resource among an error and its causes; undefined if a retry may succeed. */
export function lastingFailure(error: unknown, depth = 0): LastingFailure | undefined {
  if (!(error instanceof Error) || depth > MAX_CAUSES) return undefined;
  if (error instanceof ServiceError) return lastingOf(error);
  const inner: readonly unknown[] = error instanceof AggregateError ? error.errors : [error.cause];
  return inner.map((each) => lastingFailure(each, depth + 1)).find((found) => found !== undefined);
}

/** Whether a disk of this machine failed. Only a user can repair that, so no loop retries. */
export const isOfDisk = (error: unknown): boolean => lastingFailure(error)?.isOfDisk === true;

function lastingOf({ resource, failure }: ServiceError): LastingFailure | undefined {
  const { kind, code = '', what, got } = failure;
  // A missing object is not a failure of the store.
  if (kind === 'missing' ? what === 'object' : !WHOLE_RESOURCE_KINDS.includes(kind)) return undefined;
  const isMissing = kind === 'missing' || got === 'none';
  const problem = isMissing ? 'ResourceMissing' : 'ResourceRefused';
  return {
    resource: KEY_CODE.test(code) ? 'key' : resource,
    problem,
    isOfDisk: /^(E[A-Z]+|SQLITE_\w+)$/.test(code),
  };
}
