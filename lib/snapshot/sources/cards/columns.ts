import type { Columns } from '../source-definition.ts';

/** The fields of cards according to the contract, and the columns made of them: see `Columns`. Only appended to. */
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
  _other: 'string',
} as const satisfies Columns;
