/** A file or directory of a FileSet, with every field of contract 2.2 in the contract's order. */
export type FileRow = {
  /** A UUID. */
  readonly id: string;
  /** From the root of the FileSet, with a leading slash and ending with its own name. */
  readonly path: string;
  readonly name: string;
  readonly fileType: string;
  /** Null for a directory, as are `size`, `hash` and `hashAlgorithm`. */
  readonly contentType: string | null;
  /** In bytes. */
  readonly size: number | null;
  /** ISO 8601, in UTC. */
  readonly created: string;
  readonly createdBy: number;
  readonly hash: string | null;
  readonly hashAlgorithm: string | null;
  readonly downloadUrl: string | null;
  readonly connectorKey: string | null;
  readonly indexStatus: string;
  readonly indexReason: string | null;
};

/** The fields for sorting and filtering: all of them, since all are scalar. */
const fileFields: readonly (keyof FileRow)[] = [
  'id',
  'path',
  'name',
  'fileType',
  'contentType',
  'size',
  'created',
  'createdBy',
  'hash',
  'hashAlgorithm',
  'downloadUrl',
  'connectorKey',
  'indexStatus',
  'indexReason',
];

/** The field with this name, or undefined if there is none. */
export function fileField(name: string): keyof FileRow | undefined {
  return fileFields.find((field) => field === name);
}
