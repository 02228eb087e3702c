/** An object's content. `etag` changes whenever the content changes; callers may only compare it. */
export type StoredObject = { readonly body: Buffer; readonly etag: string };

/** A condition on the object under the key: it must not exist, or must still have this etag. */
export type PutCondition = { readonly ifAbsent: true } | { readonly ifMatch: string };

type Abortable = { readonly signal?: AbortSignal | undefined };

/** Options for storing an object. */
export type PutOptions = Abortable & {
  readonly condition?: PutCondition;
  readonly contentType?: string;
  /** The SHA-256 of the body in hex, if the caller knows it. Saves a directory store from computing it for the etag. */
  readonly sha256?: string;
  /** The tag that the object gets when it is created, if the store supports tags. Default: no tag. */
  readonly tag?: Tag | undefined;
  /**
   * Whether this write may use the space that a directory store reserves for a full disk, because it frees space or
   * stores a result that was paid for. Default: false.
   */
  readonly mayUseReserve?: boolean | undefined;
};

/** The default of `maxBytes` in `get`. */
export const MAX_OBJECT_BYTES = 256 * 1024 * 1024;

/** An object in a list, without its content. */
export type ListedObject = {
  readonly key: string;
  readonly sizeBytes: number;
  /**
   * Changes when the content changes. In S3 it is the etag that `get` and `put` return; callers only compare it.
   */
  readonly mark: string;
  /** When the object was last stored, in epoch milliseconds, by the clock of the disk or of S3; absent if unknown. */
  readonly storedMs?: number | undefined;
};

/**
 * Objects under slash-separated keys, in S3 or a directory. An object appears complete or not at all. Every failure
 * that is not described here is thrown as a `StoreError`; an abort is thrown as the signal's own reason. A change
 * that throws may have been stored anyway, since its response may have been lost.
 *
 * A key consists of names separated by single slashes, at most 1,024 bytes of UTF-8, without `.`, `..`, backslashes and
 * control characters (`checkKey`). No key should be the folder of another (`a` and `a/b`): a directory refuses that.
 */
export type Store = {
  /** The location of the store, for people: `s3://bucket/prefix` or the absolute path of the directory. */
  readonly location: string;
  /** The whole object, or undefined if it does not exist. Meant for small objects: manifests, `latest.json`. */
  get(
    key: string,
    options?: Abortable & {
      /**
       * Maximum bytes: a larger object is a `too-large` failure, and its bytes are not read. Default:
       * `MAX_OBJECT_BYTES`.
       */
      readonly maxBytes?: number;
    },
  ): Promise<StoredObject | undefined>;
  /**
   * The object's bytes as they arrive, or undefined if it does not exist. Meant for parts. Read the stream to
   * its end, or abort it.
   */
  stream(key: string, options?: Abortable): Promise<AsyncIterable<Uint8Array> | undefined>;
  /**
   * Stores an object. Returns `stored` with the new etag; or `condition-failed` if another writer has stored or deleted
   * the object, which is then not changed. The caller may reuse `body` once the promise has resolved.
   */
  put(key: string, body: Uint8Array, options?: PutOptions): Promise<PutResult>;
  /**
   * Stores an object from a stream, and replaces any object under the key. Takes memory for a few pieces of 8 MiB. If
   * `pieces` throws, the error is rethrown and nothing is stored.
   */
  putStream(key: string, pieces: AsyncIterable<Uint8Array>, options?: Abortable): Promise<void>;
  /**
   * Copies one object within the store, and replaces any object at the target. If the source is missing, fails as
   * `missing`.
   */
  copy(from: string, to: string, options?: Abortable): Promise<void>;
  /**
   * Lists every object whose key starts with `prefix`, ordered by the keys' UTF-8 bytes. Files and objects whose names
   * are not valid keys are skipped.
   */
  list(prefix: string, options?: Abortable): AsyncGenerator<ListedObject>;
  /**
   * Lists every folder with objects whose key starts with `prefix`, but no folders within it, in no particular
   * order: for the prefix `a/r` and an object `a/run/1/x`, the folder `a/run`. Does not read the objects in the
   * folders.
   */
  folders(prefix: string, options?: Abortable): AsyncGenerator<string>;
  /** Deletes the object, if it exists. */
  delete(key: string, options?: Abortable): Promise<void>;
  /** The file with the object, which must not be changed. Absent if the store's objects are not files. */
  fileOf?(key: string): Promise<{ readonly path: string; readonly sizeBytes: number } | undefined>;
  /** Lists overwritten or deleted content that can still be read. Absent if the store never keeps any. */
  oldVersions?(prefix: string, options?: Abortable): AsyncGenerator<OldVersion>;
  /**
   * Sets a tag on all objects, and removes their other tags. If it throws, some objects may have the tag. Absent if the
   * store has no tags.
   */
  tagAll?(prefix: string, tag: Tag, options?: Abortable): Promise<void>;
};

type Tag = { readonly name: string; readonly value: string };

/** Earlier content of a key. `erase` deletes it permanently. */
export type OldVersion = {
  readonly key: string;
  /** Reads the whole content. Throws a `too-large` failure above `MAX_OBJECT_BYTES`. */
  read(): Promise<Buffer>;
  erase(): Promise<void>;
};

/** The result of `put`: the new etag, or that the condition did not hold. */
export type PutResult =
  | { readonly kind: 'stored'; readonly etag: string }
  | { readonly kind: 'condition-failed' };
