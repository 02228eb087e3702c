import type { Columns, HiveType } from '../source-definition.ts';

/** The fields of data files according to the contract; `Columns` explains their types. */
export const dataFileColumns = {
  dataFileId: 'string',
  name: 'string',
  responsibleUserId: 'string',
  currentRevision: revision(),
  datetimeCreated: 'bigint',
  revisions: `array<${revision()}>`,
  existing: 'boolean',
} as const satisfies Columns;

function revision(): HiveType {
  const fields = {
    dataFileRevisionId: 'string',
    dataFileId: 'string',
    contentType: 'string',
    uploadUserId: 'string',
    sizeBytes: 'bigint',
    uploadTimeMillis: 'bigint',
    md5Hash: 'string',
    datetimeUploaded: 'bigint',
    scanState: 'string',
    sha256HashValue: 'string',
  };
  return `struct<${Object.entries(fields)
    .map(([name, type]) => `${name}:${type}`)
    .join(',')}>`;
}
