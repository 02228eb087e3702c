/** A record as a scan hands it on: its key, the JSON types of its fields, and the one line that it becomes. */
export type ScannedRecord = {
  /**
   * What tells it from every other record of the source: the digits of an id, or the parts of a compound key with a
   * slash between them (FileSet and file id; dataset and card id).
   */
  readonly key: string;
  /** The record's value, for its fields and their JSON types. */
  readonly value: object;
  /** JSON without a line end. */
  readonly line: string;
};
