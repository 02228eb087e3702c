import type { Columns } from '../source-definition.ts';

/** The fields of calculations according to the contract; `Columns` explains their types. */
export const calculationColumns = {
  id: 'string',
  name: 'string',
  owner: 'string',
  locked: 'boolean',
  global: 'boolean',
  expression: 'string',
  checkSum: 'string',
  links: 'array<struct<resource:struct<type:string,id:string>,visible:boolean,active:boolean,valid:string>>',
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
} as const satisfies Columns;
