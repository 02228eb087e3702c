import * as z from 'zod/mini';
import { filledText } from '../../../base/json/index.ts';
import { resumable } from '../resumable.ts';
import { type Columns, defineSource } from '../source-definition.ts';
import { filterSchema, requestFilter } from './filter.ts';

/** The most rows that the platform allows in a page. */
const PAGE_ROWS = 5_000;

/** The fields of calculations according to the contract, and the columns made of them: see `Columns`. Only appended to. */
const calculationColumns = {
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
  lastModified_at: 'timestamp',
  created_at: 'timestamp',
  _other: 'string',
} as const satisfies Columns;

export const calculations = defineSource({
  name: 'calculations',
  operation: 'searchCalculations',
  takes: 'All calculations, or only those that match a search (then with --as).',
  fields: (list) => ({
    name: z.optional(filledText),
    filters: z.optional(list(filterSchema, { error: 'a list of filters', most: 100 })),
  }),
  rules: [
    {
      // A narrowed snapshot must not be mistaken for the whole.
      at: 'as',
      expected: (named) =>
        `a place of its own, since ${named('name')} or ${named('filters')} narrow the snapshot`,
      holds: ({ name, filters, as }) => (name === undefined && filters === undefined) || as !== undefined,
    },
  ],
  narrowedBy: ({ name, filters }) => [name, filters],
  async openScan({ name, filters = [] }, { call, sleep, pageRows: limit = PAGE_ROWS }) {
    const { calculationPosition, calculationScan } = await import('./scan.ts');
    const selection = {
      ...(name === undefined ? {} : { name }),
      filters: filters.map(requestFilter),
    };
    return resumable(calculationScan({ call, selection, limit, sleep }), calculationPosition);
  },
  columns: calculationColumns,
  records: {
    key: { id: 'id', isInteger: true },
    label: 'name',
    volatile: [],
    sets: ['functions'],
  },
  options: [
    { field: 'name', flags: '--name <text>', help: 'only calculations whose name matches this text' },
    {
      field: 'filters',
      flags: '--filter <field[:value]>',
      help: 'only calculations that match this filter; the ids of dataset, card and owner may be several with commas; may be repeated',
      kind: 'list',
    },
  ],
  examples: ['', '--name Revenue --as revenue', '--resume last'],
  sample: () => [],
});
