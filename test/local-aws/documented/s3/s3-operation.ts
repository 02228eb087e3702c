/** The parts of a request that determine its operation. */
type Parts = {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: object;
};

/** The decoded bucket and key in a path. The key is empty for a request on the bucket. */
export function placeOf({ path }: Pick<Parts, 'path'>): { readonly bucket: string; readonly key: string } {
  const [, bucket = '', key = ''] = /^\/([^/]*)\/?(.*)$/s.exec(path) ?? [];
  return { bucket: decode(bucket), key: decode(key) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * The name of a request's operation. With a subresource that is not listed here, the name is that of the subresource,
 * such as `PUT ?acl`.
 */
export function s3OperationOf(request: Parts): string {
  const { bucket, key } = placeOf(request);
  if (bucket === '') return 'ListBuckets';
  const { method, query } = request;
  const sub = [...query.keys()].find((name) => !PARAMETERS.has(name) && !/^(x-|response-)/i.test(name)) ?? '';
  const named = (key === '' ? ofBuckets : ofObjects)[`${method} ${sub}`.trim()];
  if (named === undefined) return `${method} ?${sub}`;
  const isCopy = 'x-amz-copy-source' in request.headers;
  return isCopy ? (copies[named] ?? named) : named;
}

/** Query parameters that do not change the operation. */
const PARAMETERS: ReadonlySet<string> = new Set([
  'continuation-token',
  'delimiter',
  'encoding-type',
  'fetch-owner',
  'key-marker',
  'list-type',
  'marker',
  'max-keys',
  'max-parts',
  'part-number-marker',
  'partNumber',
  'prefix',
  'start-after',
  'version-id-marker',
  'versionId',
]);

const ofBuckets: Readonly<Record<string, string>> = {
  PUT: 'CreateBucket',
  HEAD: 'HeadBucket',
  DELETE: 'DeleteBucket',
  GET: 'ListObjects',
  'GET versions': 'ListObjectVersions',
  'GET versioning': 'GetBucketVersioning',
  'PUT versioning': 'PutBucketVersioning',
  'GET lifecycle': 'GetBucketLifecycleConfiguration',
  'PUT lifecycle': 'PutBucketLifecycleConfiguration',
  'DELETE lifecycle': 'DeleteBucketLifecycle',
};

const ofObjects: Readonly<Record<string, string>> = {
  PUT: 'PutObject',
  GET: 'GetObject',
  HEAD: 'HeadObject',
  DELETE: 'DeleteObject',
  'GET attributes': 'GetObjectAttributes',
  'POST uploads': 'CreateMultipartUpload',
  'PUT uploadId': 'UploadPart',
  'POST uploadId': 'CompleteMultipartUpload',
  'DELETE uploadId': 'AbortMultipartUpload',
  'GET uploadId': 'ListParts',
  'GET tagging': 'GetObjectTagging',
  'PUT tagging': 'PutObjectTagging',
};

const copies: Readonly<Record<string, string>> = { PutObject: 'CopyObject', UploadPart: 'UploadPartCopy' };

/** The operations that replace an object. */
export const WRITES: ReadonlySet<string> = new Set(['PutObject', 'CopyObject', 'CompleteMultipartUpload']);
