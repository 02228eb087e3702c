import * as z from 'zod/mini';
import { filledText } from '../../../base/json/index.ts';
import {
  CANONICAL_ID,
  id,
  isId,
  isWord,
  moment,
  ownerName,
  text,
  timeOf,
  unsent,
  word,
} from '../../columns/index.ts';
import { type Columns, defineSource, resumable } from '../source-definition.ts';
import { filterSchema, requestFilter } from './filter.ts';

/** Maximum rows that the platform allows in a page. */
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
  kind: 'calculation',
  names: ['dataset', 'calculation', 'card', 'column'],
  described: { type: 'status', owner: 'owner' },
  view: {
    row: 'calculation',
    owner: 'owner',
    made: {
      calculation_id: id(CANONICAL_ID, 'the id of the calculation, as text; uses have it as it is here'),
      owner_id: id('owner', 'the id of the user who owns it', ['user_id']),
      owner_name: ownerName(),
      status: word('status', 'valid, or what the platform says instead, in lower case', {
        guesses: ['state', 'validity'],
      }),
      created_at: moment('created_at', 'when it was created, in UTC'),
      modified_at: moment('lastmodified_at', 'when it was last changed, in UTC'),
      last_modified: moment('lastmodified_at', 'the same as modified_at'),
      status_sent: text('status', 'the status as the platform sent it', isWord),
    },
    fields: {
      id: ['the same as calculation_id', isId],
      name: ['its name', { guesses: ['title', 'calculation', 'calculation_name'] }],
      owner: ['the same as owner_id', isId],
      locked: 'whether only its owner or an administrator may change it',
      global: 'whether it may be used everywhere',
      expression: unsent('the formula', 'expression', { guesses: ['formula'] }),
      checkSum: unsent('the SHA-1 of the formula', 'checkSum'),
      links: 'what it is linked to, as the platform says it',
      legacyId: ['another id of it on the platform', isId],
      lastModified: timeOf('modified_at', 'when it was last changed, in epoch milliseconds'),
      created: timeOf('created_at', 'when it was created, in epoch milliseconds'),
      aggregated: unsent('whether it aggregates rows', 'aggregated'),
      analytic: unsent('whether it uses a window function', 'analytic'),
      nonAggregatedColumns: unsent(
        'the columns that it uses without aggregating them',
        'nonAggregatedColumns',
        { guesses: ['columns'] },
      ),
      dataType: unsent('the type of its result', 'dataType', { ...isWord, guesses: ['result_type', 'type'] }),
      status: '',
      cacheWindow: unsent('how long the platform caches its result', 'cacheWindow', isWord),
      columnPositions: unsent('which columns are where in the formula', 'columnPositions'),
      functions: unsent('the functions that the formula uses', 'functions'),
      functionTemplateDependencies: unsent(
        'the ids of the calculations that it refers to',
        'functionTemplateDependencies',
      ),
      archived: 'whether it is archived',
      hidden: unsent('whether it is hidden', 'hidden'),
      variable: unsent('whether it is a variable', 'variable'),
      activeLinks: 'ids of what uses it at present, by type',
      lastModified_at: 'the same as modified_at',
      created_at: '',
    },
  },
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
