import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { AwsError, isPassing, kindOfFault, lastingFailure, remedyOf } from '../../../lib/base/aws/index.ts';

/* Every error that AWS documents for a call of ours, and how we treat it. */

/** Our calls by client: every `new XCommand` in `lib`, and the calls of an upload in parts. */
const CALLS = {
  s3: 'PutObject GetObject CopyObject DeleteObject HeadObject ListObjectsV2 ListObjectVersions PutObjectTagging AbortMultipartUpload CreateMultipartUpload UploadPart CompleteMultipartUpload HeadBucket GetBucketVersioning GetBucketLifecycleConfiguration',
  sqs: 'SendMessageBatch ReceiveMessage DeleteMessage ChangeMessageVisibility GetQueueAttributes',
  dynamodb: 'GetItem PutItem DeleteItem Query Scan BatchGetItem',
  'secrets-manager': 'GetSecretValue',
  ssm: 'GetParameter',
  eventbridge: 'PutEvents',
  lambda: 'Invoke',
  glue: 'GetTable CreatePartition UpdatePartition DeletePartition',
  sns: 'Publish',
  cloudformation: 'DescribeStacks',
} as const;

type Service = keyof typeof CALLS;

const require = createRequire(import.meta.url);

/** The errors that a client documents for its calls: a client fault counts as status 400, a server fault as 502. */
function modelled(service: Service): readonly (readonly [string, number])[] {
  const folder = dirname(require.resolve(`@aws-sdk/client-${service}/package.json`));
  const texts = CALLS[service]
    .split(' ')
    .map((call) => readFileSync(join(folder, `dist-types/commands/${call}Command.d.ts`), 'utf8'));
  const found = texts
    .join()
    .matchAll(/@throws \{@link (\w+)\} \((client|server) fault\)/g)
    .map(([, name = '', side]) => [name, side === 'client' ? 400 : 502] as const);
  return [...new Map(found).entries()].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** Errors about a single request, message or key. Their callers handle them, and the user can do nothing about them. */
const OF_ONE =
  'AlreadyExists BatchEntryIdsNotDistinct BatchRequestTooLong ConditionalCheckFailed EmptyBatchRequest EncryptionTypeMismatch EndpointDisabled InvalidAttributeName InvalidBatchEntryId InvalidIdFormat InvalidInput InvalidParameter InvalidParameterValue InvalidRequestContent InvalidWriteOffset MessageNotInflight ModeNotSupported NoSuchKey NoSuchUpload PlatformApplicationDisabled ReceiptHandleIsInvalid RequestTooLarge SerializedRequestEntityTooLarge TooManyEntriesInBatchRequest TooManyParts UnsupportedMediaType Validation FederationSource NoSuchBucket';

const isOfOne = (code: string) => OF_ONE.split(' ').includes(code.replace(/Exception$/, ''));

/** Errors of these services that the clients do not document. */
const BESIDES: Readonly<Record<Service, string>> = {
  s3: '400 AuthorizationHeaderMalformed,400 ExpiredToken,400 IllegalLocationConstraintException,400 InvalidToken,400 KMS.DisabledException,400 KMS.KMSInvalidStateException,400 KMS.NotFoundException,400 RequestTimeout,403 AccessDenied,403 AccountProblem,403 AllAccessDisabled,403 InvalidAccessKeyId,403 InvalidObjectState,403 NotSignedUp,403 RequestTimeTooSkewed,403 SignatureDoesNotMatch,301 PermanentRedirect,307 TemporaryRedirect,405 MethodNotAllowed,409 ConditionalRequestConflict,409 OperationAborted,500 InternalError,501 NotImplemented,503 ServiceUnavailable,503 SlowDown,507 XMinioStorageFull',
  sqs: '400 AWS.SimpleQueueService.NonExistentQueue,400 AWS.SimpleQueueService.UnsupportedOperation,400 MissingParameter,403 OverLimit,403 InvalidClientTokenId,403 SignatureDoesNotMatch,400 ThrottlingException,500 InternalFailure,503 ServiceUnavailable',
  dynamodb:
    '400 AccessDeniedException,400 IncompleteSignatureException,400 MissingAuthenticationTokenException,400 UnrecognizedClientException,400 ExpiredTokenException,400 LimitExceededException,400 KMSAccessDeniedException,500 InternalServerError,503 ServiceUnavailable',
  'secrets-manager':
    '400 AccessDeniedException,400 ThrottlingException,400 InvalidSignatureException,400 RequestExpired',
  ssm: '400 AccessDeniedException,400 ThrottlingException,400 NotAuthorized,403 OptInRequired',
  eventbridge:
    '400 ResourceNotFoundException,400 AccessDeniedException,400 NotAuthorizedForSourceException,400 NotAuthorizedForDetailTypeException,400 ThrottlingException,400 InternalFailure,400 LimitExceededException',
  lambda: '403 AccessDeniedException,429 TooManyRequestsException,502 KMSThrottlingException',
  glue: '400 AccessDeniedException,400 ConcurrentModificationException,400 ThrottlingException',
  sns: '403 AuthorizationError,404 NotFound,400 KMSDisabled,400 KMSThrottling,500 InternalError',
  cloudformation: '403 AccessDenied,400 Throttling',
};

const besides = (service: Service) =>
  BESIDES[service].split(',').map((each) => {
    const [status, code = ''] = each.split(' ');
    return [code, Number(status)] as const;
  });

describe.each(Object.keys(CALLS) as readonly Service[])('%s', (service) => {
  test('waits for temporary errors, and names every other error with a remedy', () => {
    const seen = [...modelled(service), ...besides(service)].map(([code, status]) => {
      const fault = { code, status, message: '', attempts: 1 };
      const error = new AwsError(
        'token',
        'try',
        Object.assign(new Error('no'), { name: code, $metadata: { httpStatusCode: status } }),
      );
      const kind = kindOfFault(fault);
      // True if we suggest a remedy, or if the kind of error names one by itself.
      const isAdvised = remedyOf(code) !== undefined || kind === 'missing' || kind === 'denied';
      const means = isPassing(error)
        ? 'waits'
        : isOfOne(code)
          ? 'of one'
          : `${kind}${isAdvised ? '' : ' WITHOUT A REMEDY'}, ${lastingFailure(error)?.problem}-${lastingFailure(error)?.resource}`;
      return `${status} ${code}: ${means}`;
    });

    expect(seen).toMatchSnapshot();
    expect(seen.filter((each) => each.includes('WITHOUT'))).toEqual([]);
  });
});
