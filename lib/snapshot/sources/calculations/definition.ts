import * as z from 'zod/mini';
import { filledText } from '../../../base/index.ts';
import {
  CANONICAL_ID,
  id,
  isWord,
  moment,
  ownerName,
  stored,
  storedId,
  storedWord,
  text,
  unsent,
} from '../../../columns.ts';
import { defineSource, resumable } from '../source-definition.ts';
import { filterSchema, requestFilter } from './filter.ts';

/** The maximum rows of a page that the platform allows. */
const PAGE_ROWS = 5_000;

export const calculations = defineSource({
  name: 'calculations',
  operation: 'searchCalculations',
  takes: 'All calculations, or only those that match a search (needs --as).',
  fields: (list) => ({
    /** Only calculations whose name matches this; needs `as`. Default: all. */
    name: z.optional(filledText),
    /**
     * Only calculations that match all of these filters, `FIELD` or `FIELD:VALUE,…`; at most 100; needs `as`. Default:
     * all.
     */
    filters: z.optional(list(filterSchema, { error: 'a list of filters', max: 100 })),
  }),
  rules: [
    {
      // Without its own place, a narrowed snapshot could be mistaken for all calculations.
      at: 'as',
      expected: (named) =>
        `its own place, since ${named('name')} or ${named('filters')} narrows the snapshot`,
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
  kind: 'calculation',
  names: ['dataset', 'calculation', 'card', 'column'],
  described: { type: 'status', owner: 'owner' },
  table: {
    row: 'calculation',
    guesses: ['broken_links', 'unused'],
    columns: {
      calculation_id: id(CANONICAL_ID, 'the id of the calculation, as a string, in the same form as in uses'),
      owner_id: id('owner', 'the id of the user who owns it', ['user_id']),
      owner_name: ownerName(),
      status: storedWord(
        'status',
        'the status in lower case: valid, or any other value that the platform sends',
        {
          guesses: ['state', 'validity'],
        },
      ),
      modified_at: moment('lastmodified_at', 'when it was last changed, in UTC'),
      last_modified: moment('lastmodified_at', 'the same as modified_at'),
      status_sent: text('status', 'the status as the platform sent it', isWord),
      id: storedId('the same as calculation_id'),
      name: stored('string', 'its name', { guesses: ['title', 'calculation', 'calculation_name'] }),
      owner: storedId('the same as owner_id'),
      locked: stored('boolean', 'whether only its owner or an administrator may change it'),
      global: stored('boolean', 'whether it may be used everywhere'),
      expression: unsent('string', 'the formula', { guesses: ['formula'] }),
      checkSum: unsent('string', 'the SHA-1 of the formula'),
      links: stored(
        'array<struct<resource:struct<type:string,id:string>,visible:boolean,active:boolean,valid:string>>',
        'its links, as the platform sent them',
      ),
      legacyId: storedId('a second id that the platform gives it'),
      lastModified: stored('bigint', 'when it was last changed, in epoch milliseconds', {
        moment: 'modified_at',
      }),
      created: stored('bigint', 'when it was created, in epoch milliseconds', { moment: 'created_at' }),
      aggregated: unsent('boolean', 'whether it aggregates rows'),
      analytic: unsent('boolean', 'whether it uses a window function'),
      nonAggregatedColumns: unsent('array<string>', 'the columns that it uses without aggregating them', {
        guesses: ['columns'],
      }),
      dataType: unsent('string', 'the type of its result', { ...isWord, guesses: ['result_type', 'type'] }),
      cacheWindow: unsent('string', 'how long the platform caches its result', isWord),
      columnPositions: unsent(
        'array<struct<columnName:string,columnPosition:bigint>>',
        'the position of each column in the formula',
      ),
      functions: unsent('array<string>', 'the functions that the formula uses'),
      functionTemplateDependencies: unsent('array<string>', 'the ids of the calculations that it refers to'),
      archived: stored('boolean', 'whether it is archived'),
      hidden: unsent('boolean', 'whether it is hidden'),
      variable: unsent('boolean', 'whether it is a variable'),
      activeLinks: stored(
        'map<string,array<string>>',
        'the ids of the objects that use it at present, by type',
      ),
      lastModified_at: stored('timestamp', 'the same as modified_at'),
      created_at: stored('timestamp', 'when it was created, in UTC'),
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
      help: 'only calculations that match this filter; dataset, card and owner take several ids, separated by commas; may be repeated',
      kind: 'list',
    },
  ],
  examples: ['', '--name Revenue --as revenue', '--resume last'],
  sample: () => [],
});
