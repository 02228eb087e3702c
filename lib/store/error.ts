import { ServiceError } from '../base/aws/index.ts';
import { firstLine, messageOf } from '../base/index.ts';

/**
 * Everything that can go wrong with a store, as data. `code`: the error code of the service or the operating
 * system.
 */
export type StoreFailure =
  /** The location is neither `s3://bucket/prefix` nor a directory. */
  | { readonly kind: 'bad-location'; readonly expected: string; readonly got: string }
  | { readonly kind: 'bad-key'; readonly expected: string; readonly got: string }
  /** In a directory, a key cannot be both an object and a folder. `occupant`: what exists there already. */
  | { readonly kind: 'key-conflict'; readonly occupant: string }
  | { readonly kind: 'missing'; readonly what: 'object' | 'bucket' }
  | { readonly kind: 'too-large'; readonly maxBytes: number; readonly sizeBytes: number }
  /** The SDK has no region or no credentials; `expected`: the settings in words. Nothing was sent. */
  | { readonly kind: 'unconfigured'; readonly code: string; readonly expected: string }
  | { readonly kind: 'denied'; readonly code: string }
  /** For a directory: its file system is read-only, or full. `AsOf`: the store is opened as of a past time. */
  | { readonly kind: 'read-only' | 'full'; readonly code: string }
  /** Other writers kept changing the object, or the service was overloaded or failed, for longer than a call waits. */
  | { readonly kind: 'busy'; readonly code: string }
  | { readonly kind: 'unreachable'; readonly code: string }
  | { readonly kind: 'other'; readonly code: string };

/** The error of `lib/store`. Its message says what was tried, on what, and what came back. */
export class StoreError extends ServiceError {
  override readonly name = 'StoreError';
  readonly resource = 'store';
  readonly failure: StoreFailure;

  /** `tried`: what was tried, and on what: `put latest.json in s3://bucket/prefix`. */
  constructor(tried: string, failure: StoreFailure, options?: { readonly cause: unknown }) {
    const cause = options?.cause instanceof Error ? ` (${firstLine(options.cause.message)})` : '';
    super(messageOf(`${tried}: ${describe(failure)}${cause}`), options);
    this.failure = failure;
  }
}

function describe(failure: StoreFailure): string {
  switch (failure.kind) {
    case 'bad-location':
    case 'bad-key':
      return `expected ${failure.expected}, got ${JSON.stringify(failure.got)}`;
    case 'unconfigured':
      return `expected ${failure.expected}, got none`;
    case 'key-conflict':
      return `it conflicts with ${failure.occupant}`;
    case 'too-large':
      return `expected at most ${failure.maxBytes} bytes, got ${failure.sizeBytes}`;
    case 'missing':
      return `there is no such ${failure.what}`;
    case 'read-only':
      return failure.code === 'AsOf' ? 'the past is read-only' : 'its file system is read-only';
    case 'full':
      return 'its file system is full';
    case 'denied':
    case 'busy':
    case 'unreachable':
      return `${failure.kind}, ${failure.code}`;
    case 'other':
      return failure.code;
    default:
      return failure satisfies never;
  }
}

/** The code of an error of Node, such as `ENOENT`; undefined if it has none. */
export const errorCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;

/**
 * Creates a handler for a promise's `catch`: it returns `value` for an error with one of `codes`, and rethrows every
 * other error.
 */
export const unlessCode =
  <T>(codes: readonly string[], value: T) =>
  (error: unknown): T => {
    if (codes.includes(errorCode(error) ?? '')) return value;
    throw error;
  };
