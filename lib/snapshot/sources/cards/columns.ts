import type { Columns } from '../source-definition.ts';

/** The fields of cards by the contract; `Columns` says how they are typed. */
export const cardColumns = {
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
} as const satisfies Columns;
