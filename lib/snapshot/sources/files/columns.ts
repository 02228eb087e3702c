import type { Columns } from '../source-definition.ts';

/** The fields of files according to the contract, and the columns made of them: see `Columns`. Only appended to. */
export const fileColumns = {
  _filesetId: 'string',
  id: 'string',
  path: 'string',
  name: 'string',
  fileType: 'string',
  contentType: 'string',
  size: 'bigint',
  created: 'string',
  createdBy: 'string',
  hash: 'string',
  hashAlgorithm: 'string',
  downloadUrl: 'string',
  connectorKey: 'string',
  indexStatus: 'string',
  indexReason: 'string',
  _other: 'string',
} as const satisfies Columns;
