/** A record as a scan passes it on: its key, its value, and the line that is written for it. */
export type ScannedRecord = {
  /**
   * What distinguishes it from every other record of the source: the digits of an id, or the parts of a compound key
   * with a slash between them (FileSet and file id; dataset and card id).
   */
  readonly key: string;
  /** The parsed record, for its fields and their JSON types. */
  readonly value: object;
  /** JSON without a line end. */
  readonly line: string;
};
