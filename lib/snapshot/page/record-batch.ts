export type FieldTypes = Record<string, JsonType[]>;
export type JsonType = 'string' | 'number' | 'boolean' | 'object' | 'array' | 'null';

/** Some records, in order: as many lines as keys. */
export type RecordPiece = {
  readonly keys: readonly string[];
  /** The records as NDJSON in UTF-8; every line ends in a line feed. */
  readonly lines: Uint8Array;
  /** The byte after each record's line. */
  readonly ends: Uint32Array;
  /** Frees the memory of `lines`. Optional to call, and only once they are written. */
  readonly release?: () => void;
};

/** Records on their way to a part, in order. */
export type RecordBatch = {
  readonly records: number;
  /**
   * Built when requested, so that memory does not hold all lines. To be read once: they may reuse the response's
   * memory.
   */
  readonly pieces: () => Iterable<RecordPiece>;
  readonly fields: FieldTypes;
  /** Names of records of the same response that lack an id and are left out. Default: none. */
  readonly unnamed?: readonly string[] | undefined;
  /** The bytes of memory that it holds until it is released. */
  readonly heldBytes: number;
  /** Frees that memory. Optional to call, and only once all pieces are written, or if none is needed anymore. */
  readonly release?: () => void;
};

export const emptyBatch: RecordBatch = { records: 0, pieces: () => [], fields: {}, heldBytes: 0 };
