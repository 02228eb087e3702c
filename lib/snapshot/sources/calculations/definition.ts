import * as z from 'zod/mini';
import type { ListOf } from '../../../base/index.ts';
import { defineSource, present } from '../define-source.ts';
import { resumable } from '../resumable.ts';
import { calculationColumns } from './columns.ts';
import { filterField } from './filter-field.ts';

/** The most rows that the platform allows in a page. */
const PAGE_ROWS = 5_000;

export const calculations = defineSource(
  {
    name: 'calculations',
    operation: 'searchCalculations',
    fields: (list: ListOf) => ({
      name: z.optional(z.string({ error: 'text' })),
      filters: z.optional(list(filterField, { error: 'a list of filter fields', most: 100 })),
    }),
    selection: z.strictObject({ name: z.optional(z.string()), filters: z.optional(z.array(z.string())) }),
    columns: calculationColumns,
  },
  {
    takes: 'All calculations, or only those that match a search (then with --as).',
    rules: [
      {
        // A narrowed snapshot must not be mistaken for the whole.
        at: 'as',
        expected: (named) =>
          `a place of its own, since ${named('name')} or ${named('filters')} narrow the snapshot`,
        holds: ({ name, filters, as }) => (name === undefined && filters === undefined) || as !== undefined,
      },
    ],
    selectionOf: ({ name, filters }) => ({ selection: present({ name, filters }) }),
    async openScan({ name, filters = [] }, { call, sleep, pageRows: limit = PAGE_ROWS }) {
      const { calculationPosition, calculationScan } = await import('./scan.ts');
      const search = {
        ...(name === undefined ? {} : { name }),
        filters: filters.map((field) => ({ field })),
      };
      return resumable(calculationScan({ call, selection: search, limit, sleep }), calculationPosition);
    },
    records: {
      key: { id: 'id', isInteger: true },
      label: 'name',
      volatile: [],
      sets: ['functions'],
      inKeyOrder: true,
    },
    options: [
      {
        flags: '--name <text>',
        help: 'only calculations whose name matches this text',
        field: 'name',
        kind: 'text',
      },
      {
        flags: '--filter <field>',
        help: 'only calculations that match this filter field; may be repeated',
        field: 'filters',
        kind: 'list',
      },
    ],
    sample: () => [],
  },
);
