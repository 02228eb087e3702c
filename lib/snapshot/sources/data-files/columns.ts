import type { Columns, HiveType } from '../source-definition.ts';

/** The fields of data files according to the contract, and the columns made of them: see `Columns`. Only appended to. */
export const dataFileColumns = {
  dataFileId: 'string',
  name: 'string',
  responsibleUserId: 'string',
  currentRevision: revision(),
  datetimeCreated: 'bigint',
  revisions: `array<${revision()}>`,
  existing: 'boolean',
  datetimeCreated_at: 'timestamp',
  _other: 'string',
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
