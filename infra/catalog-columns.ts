import type { glueTables } from '../lib/contract.ts';

/** A type as Hive writes it: the field names of a struct in the spelling of the platform. */
export type HiveType = string;

/** The columns of a table by the names of the records' fields; Glue keeps and compares names in lower case. */
export type Columns = Readonly<Record<string, HiveType>>;

/**
 * The tables over the published runs, by the contract's fields of each record.
 *
 * An id is text: its digits as they came. Athena reads a number into a text column digit for digit, but turns one that a
 * bigint cannot hold into null. Times are as the contract has them: epoch milliseconds, or ISO 8601 text. A field that is
 * not named here is not read; one whose value is no text in a text column is read as its JSON.
 */
export const tableColumns = {
  calculations: {
    id: 'string',
    name: 'string',
    owner: 'string',
    locked: 'boolean',
    global: 'boolean',
    expression: 'string',
    checkSum: 'string',
    links:
      'array<struct<resource:struct<type:string,id:string>,visible:boolean,active:boolean,valid:string>>',
    legacyId: 'string',
    lastModified: 'bigint',
    created: 'bigint',
    aggregated: 'boolean',
    analytic: 'boolean',
    nonAggregatedColumns: 'array<string>',
    dataType: 'string',
    status: 'string',
    cacheWindow: 'string',
    columnPositions: 'array<struct<columnName:string,columnPosition:bigint>>',
    functions: 'array<string>',
    functionTemplateDependencies: 'array<string>',
    archived: 'boolean',
    hidden: 'boolean',
    variable: 'boolean',
    activeLinks: 'map<string,array<string>>',
  },
  files: {
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
  },
  cards: {
    // Only where it is another than datasourceId.
    _datasetId: 'string',
    id: 'string',
    urn: 'string',
    type: 'string',
    chartType: 'string',
    title: 'string',
    ownerId: 'string',
    owners: 'array<struct<id:string,type:string,displayName:string>>',
    access: 'boolean',
    datasourceId: 'string',
  },
  'data-files': {
    dataFileId: 'string',
    name: 'string',
    responsibleUserId: 'string',
    currentRevision: revision(),
    datetimeCreated: 'bigint',
    revisions: `array<${revision()}>`,
    existing: 'boolean',
  },
} as const satisfies Record<keyof typeof glueTables, Columns>;

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
