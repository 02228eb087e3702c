import type { Columns } from '../source-definition.ts';

/** The fields of cards according to the contract; `Columns` explains their types. */
export const cardColumns = {
  // Only if it differs from datasourceId.
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
} as const satisfies Columns;
