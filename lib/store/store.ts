/** What a key holds. `etag` changes whenever the content does; opaque to the caller. */
export type StoredObject = { readonly body: Buffer; readonly etag: string };

/** A condition on the object now under the key: absent altogether, or still the one with this etag. */
export type PutCondition = { readonly ifAbsent: true } | { readonly ifMatch: string };

export type PutOptions = {
  readonly condition?: PutCondition;
  readonly contentType?: string;
  readonly signal?: AbortSignal;
};

export type ListedObject = { readonly key: string; readonly sizeBytes: number };

/**
 * Objects under slash-separated keys, in S3 or a directory. An object appears whole or not at all; a reader never
 * sees half of one. Failures other than the ones named here are thrown as `StoreError`; an abort is thrown as the
 * signal's own reason. A change that throws may have been made all the same: its answer may have been lost.
 *
 * A key is names with single slashes between them, at most 1,024 bytes of UTF-8, without `.`, `..`, backslashes and
 * control characters (`checkKey`). No key should be another's folder (`a` and `a/b`): a directory refuses that.
 */
export type Store = {
  /** Where it is, for people: `s3://bucket/prefix` or the absolute directory. */
  readonly location: string;
  /** The whole object, or undefined if there is none. For small objects: manifests, `latest.json`. */
  get(key: string, options?: { readonly signal?: AbortSignal }): Promise<StoredObject | undefined>;
  /** The object's bytes as they arrive, or undefined if there is none. For parts. Read it, or abort it. */
  stream(
    key: string,
    options?: { readonly signal?: AbortSignal },
  ): Promise<AsyncIterable<Uint8Array> | undefined>;
  /**
   * `stored` with the new etag, or `condition-failed`: somebody else's object is there and was left alone. `body` is
   * the caller's again once this has resolved.
   */
  put(key: string, body: Uint8Array, options?: PutOptions): Promise<PutResult>;
  /** Copies one object within the store; overwrites. Without a source the failure is `missing`. */
  copy(from: string, to: string, options?: { readonly signal?: AbortSignal }): Promise<void>;
  /** Every object whose key starts with `prefix`, in the order of the keys' UTF-8 bytes. What is no key is left out. */
  list(prefix: string, options?: { readonly signal?: AbortSignal }): AsyncGenerator<ListedObject>;
  /** Deletes the object; deleting what is not there is no error. */
  delete(key: string, options?: { readonly signal?: AbortSignal }): Promise<void>;
};

export type PutResult =
  | { readonly kind: 'stored'; readonly etag: string }
  | { readonly kind: 'condition-failed' };
