/** What work needs besides the platform, as alarms name it. */
export const parts = [
  'table',
  'store',
  'queue',
  'event-bus',
  'snapshot-function',
  'token',
  'catalog',
  'topic',
  'stack',
  /** A key of KMS that one of the others is encrypted with. */
  'key',
] as const;

export type Part = (typeof parts)[number];

/** A failure of a part. Its message says what was tried, on what, and what came back. */
export abstract class ServiceError extends Error {
  abstract override readonly name: string;
  abstract readonly part: Part;
  abstract readonly failure: Readonly<Partial<Record<'code' | 'what' | 'got', string>>> & {
    readonly kind: string;
  };
}

/** A failure that no time heals: the part does not exist, or refuses to be used. */
type LastingFailure = {
  readonly part: Part;
  readonly problem: 'PartMissing' | 'PartRefused';
  /** Of this machine's files, by the operating system's code or SQLite's: a full disk, a read-only or a broken one. */
  readonly isOfDisk: boolean;
};

/** True if a part did not respond, or was at its limit: that passes. */
export const isPassing = (error: unknown): boolean =>
  error instanceof ServiceError && PASSING.includes(error.failure.kind);

const PASSING: readonly string[] = ['busy', 'unreachable'];

/** What a part refuses whatever it is asked for; any other kind is about one key, row or object. */
const REFUSED: readonly string[] = ['bad-table', 'denied', 'full', 'other', 'read-only', 'unconfigured'];

/**
 * Codes about a key of KMS, which each service spells its own way: `KMS.DisabledException` of S3, `KmsDisabled` of SQS,
 * `DecryptionFailure` of Secrets Manager, `InvalidKeyId` of Parameter Store.
 */
export const KEY_CODE = /^(kms|(Decryption|Encryption)Failure|GlueEncryption|InvalidKeyId)/i;

/** Causes of an error that are looked at: errors may be each other's. */
const MAX_CAUSES = 10;

/** The permanent failure, which no retry can cure, among an error and its causes; undefined if there is none. */
export function lastingFailure(error: unknown, depth = 0): LastingFailure | undefined {
  if (!(error instanceof Error) || depth > MAX_CAUSES) return undefined;
  if (error instanceof ServiceError) return lastingOf(error);
  const inner: readonly unknown[] = error instanceof AggregateError ? error.errors : [error.cause];
  return inner.map((each) => lastingFailure(each, depth + 1)).find((found) => found !== undefined);
}

/** Whether a disk of this machine is what failed, as it will until a person sees to it: no loop waits for that. */
export const isOfDisk = (error: unknown): boolean => lastingFailure(error)?.isOfDisk === true;

function lastingOf({ part, failure }: ServiceError): LastingFailure | undefined {
  const { kind, code = '', what, got } = failure;
  // An object that is missing is no failure of the store.
  if (kind === 'missing' ? what === 'object' : !REFUSED.includes(kind)) return undefined;
  const isMissing = kind === 'missing' || got === 'none';
  const problem = isMissing ? 'PartMissing' : 'PartRefused';
  return { part: KEY_CODE.test(code) ? 'key' : part, problem, isOfDisk: /^(E[A-Z]+|SQLITE_\w+)$/.test(code) };
}
