/** The content of a key. `etag` changes whenever the content does; opaque to the caller. */
export type StoredObject = { readonly body: Buffer; readonly etag: string };

/** A condition on the object under the key: it must not exist, or must still have this etag. */
export type PutCondition = { readonly ifAbsent: true } | { readonly ifMatch: string };

type Abortable = { readonly signal?: AbortSignal | undefined };

export type PutOptions = Abortable & {
  readonly condition?: PutCondition;
  readonly contentType?: string;
  /** The SHA-256 of the body in hex, if the caller knows it: a directory need not compute it again, for the etag. */
  readonly sha256?: string;
  /** The tag of the object from the start, if objects of the store have tags. Default: none. */
  readonly tag?: Tag | undefined;
  /**
   * Whether the space that a directory reserves for a full disk may be used: to free space, or for what was paid for.
   * Default: false.
   */
  readonly mayUseReserve?: boolean | undefined;
};

/** Maximum bytes of an object that is read whole, unless the caller says otherwise. */
export const MAX_OBJECT_BYTES = 256 * 1024 * 1024;

export type ListedObject = {
  readonly key: string;
  readonly sizeBytes: number;
  /** Changes when other content is stored. In S3 it is the etag that `get` and `put` return; opaque to the caller. */
  readonly mark: string;
  /** When it was stored last, in epoch milliseconds, by the clock of the disk or of S3; absent where that is not known. */
  readonly storedMs?: number | undefined;
};

/**
 * Objects under slash-separated keys, in S3 or a directory. An object appears complete or not at all; a reader never
 * sees half of one. Failures other than the ones named here are thrown as `StoreError`; an abort is thrown as the
 * signal's own reason. A change that throws may have been made all the same: its response may have been lost.
 *
 * A key consists of names separated by single slashes, at most 1,024 bytes of UTF-8, without `.`, `..`, backslashes and
 * control characters (`checkKey`). No key should be the folder of another (`a` and `a/b`): a directory refuses that.
 */
export type Store = {
  /** Its location, for people: `s3://bucket/prefix` or the absolute path of the directory. */
  readonly location: string;
  /** The whole object, or undefined if there is none. For small objects: manifests, `latest.json`. */
  get(
    key: string,
    options?: Abortable & {
      /** A larger object is a `too-large` failure, and its bytes are not read. Default: `MAX_OBJECT_BYTES`. */
      readonly mostBytes?: number;
    },
  ): Promise<StoredObject | undefined>;
  /** The object's bytes as they arrive, or undefined if there is none. For parts. Read the stream to its end, or abort it. */
  stream(key: string, options?: Abortable): Promise<AsyncIterable<Uint8Array> | undefined>;
  /**
   * `stored` with the new etag, or `condition-failed`: another writer's object is there, and was left alone. `body`
   * belongs to the caller again once this has resolved.
   */
  put(key: string, body: Uint8Array, options?: PutOptions): Promise<PutResult>;
  /** Replaces any other. Memory holds a few pieces of 8 MiB. What `pieces` throws is thrown, and nothing stored. */
  putStream(key: string, pieces: AsyncIterable<Uint8Array>, options?: Abortable): Promise<void>;
  /** Copies one object within the store, overwriting any other. If there is no source, the failure is `missing`. */
  copy(from: string, to: string, options?: Abortable): Promise<void>;
  /** Every object whose key starts with `prefix`, ordered by the keys' UTF-8 bytes. Names that are not keys are left out. */
  list(prefix: string, options?: Abortable): AsyncGenerator<ListedObject>;
  /**
   * Every folder with objects whose key starts with `prefix`, without those within it, in no order: `a/run` if there
   * is an object `a/run/1/x`, for the prefix `a/r`. However many objects they hold, only the folders are read.
   */
  folders(prefix: string, options?: Abortable): AsyncGenerator<string>;
  /** Deletes the object; it is not an error if there is none. */
  delete(key: string, options?: Abortable): Promise<void>;
  /** The file that is the object; it must not be changed. Absent if the store's objects are no files. */
  fileOf?(key: string): Promise<{ readonly path: string; readonly sizeBytes: number } | undefined>;
  /** Overwritten or deleted content that can still be read. Absent if the store never keeps any. */
  oldVersions?(prefix: string, options?: Abortable): AsyncGenerator<OldVersion>;
  /** Replaces all other tags; if it throws, some may have it. Absent if the store's objects have no tags. */
  tagAll?(prefix: string, tag: Tag, options?: Abortable): Promise<void>;
};

export type Tag = { readonly name: string; readonly value: string };

/** Content that a key no longer has. `erase` removes it for good. */
export type OldVersion = {
  readonly key: string;
  /** The whole of it; a `too-large` failure above `MAX_OBJECT_BYTES`. */
  read(): Promise<Buffer>;
  erase(): Promise<void>;
};

export type PutResult =
  | { readonly kind: 'stored'; readonly etag: string }
  | { readonly kind: 'condition-failed' };
