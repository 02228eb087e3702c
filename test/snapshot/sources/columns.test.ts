import { describe, expect, test } from 'vitest';
import { sourceDefinitions, sources } from '../../../lib/snapshot/sources/sources.ts';

/** The columns at the time when runs were first published as Parquet: others may come after them. */
const firstColumns = {
  calculations: [
    'id string',
    'name string',
    'owner string',
    'locked boolean',
    'global boolean',
    'expression string',
    'checkSum string',
    'links array<struct<resource:struct<type:string,id:string>,visible:boolean,active:boolean,valid:string>>',
    'legacyId string',
    'lastModified bigint',
    'created bigint',
    'aggregated boolean',
    'analytic boolean',
    'nonAggregatedColumns array<string>',
    'dataType string',
    'status string',
    'cacheWindow string',
    'columnPositions array<struct<columnName:string,columnPosition:bigint>>',
    'functions array<string>',
    'functionTemplateDependencies array<string>',
    'archived boolean',
    'hidden boolean',
    'variable boolean',
    'activeLinks map<string,array<string>>',
    'lastModified_at timestamp',
    'created_at timestamp',
    '_other string',
  ],
  files: [
    '_filesetId string',
    'id string',
    'path string',
    'name string',
    'fileType string',
    'contentType string',
    'size bigint',
    'created string',
    'createdBy string',
    'hash string',
    'hashAlgorithm string',
    'downloadUrl string',
    'connectorKey string',
    'indexStatus string',
    'indexReason string',
    '_other string',
  ],
  cards: [
    '_datasetId string',
    'id string',
    'urn string',
    'type string',
    'chartType string',
    'title string',
    'ownerId string',
    'owners array<struct<id:string,type:string,displayName:string>>',
    'access boolean',
    'datasourceId string',
    '_other string',
  ],
  'data-files': [
    'dataFileId string',
    'name string',
    'responsibleUserId string',
    'currentRevision struct<REVISION>',
    'datetimeCreated bigint',
    'revisions array<struct<REVISION>>',
    'existing boolean',
    'datetimeCreated_at timestamp',
    '_other string',
  ],
};

const REVISION =
  'dataFileRevisionId:string,dataFileId:string,contentType:string,uploadUserId:string,sizeBytes:bigint,' +
  'uploadTimeMillis:bigint,md5Hash:string,datetimeUploaded:bigint,scanState:string,sha256HashValue:string';

describe.each(sources)('the columns of %s', (source) => {
  const columns = Object.entries(sourceDefinitions[source].columns);

  test('are only appended to', () => {
    const first = firstColumns[source].map((column) => column.replaceAll('REVISION', REVISION));

    expect(columns.map((column) => column.join(' ')).slice(0, first.length)).toEqual(first);
  });

  test('are named differently in lower case', () => {
    const names = columns.map(([name]) => name.toLowerCase());

    expect(names).toEqual([...new Set(names)]);
  });

  test('have a timestamp only of a field of epoch milliseconds', () => {
    const of = columns.filter(([, type]) => type === 'timestamp').map(([name]) => name.replace(/_at$/, ''));

    expect(columns.filter(([name]) => of.includes(name)).map(([, type]) => type)).toEqual(
      of.map(() => 'bigint'),
    );
  });
});
