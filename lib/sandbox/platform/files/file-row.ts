/** A file or directory of a FileSet, with every field of contract 2.2 in the contract's order. */
export type FileRow = {
  readonly id: string;
  readonly path: string;
  readonly name: string;
  readonly fileType: string;
  /** Null for a directory, as are `size`, `hash` and `hashAlgorithm`. */
  readonly contentType: string | null;
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

export function fileField(name: string): keyof FileRow | undefined {
  return fileFields.find((field) => field === name);
}
