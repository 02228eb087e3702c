import { describe, expect, test } from 'vitest';
import { checkMessage } from '../../../../lib/jobs/types/index.ts';
import { snapshotChecks } from '../../../../lib/jobs/types/snapshot/message.ts';
import { searchCalculations } from '../../../../lib/platform/operations/search-calculations.ts';
import { filterSchema, requestFilter } from '../../../../lib/snapshot/sources/calculations/filter.ts';

const DATASET = 'cd27b9a0-a9d4-446b-9b16-02103df7f112';

describe('a filter', () => {
  test.each([
    ['archived', { field: 'archived' }],
    [`dataset:${DATASET}`, { field: 'dataset', idList: [DATASET] }],
    [`not dataset:${DATASET},${DATASET}`, { field: 'not dataset', idList: [DATASET, DATASET] }],
    ['owner:5,67', { field: 'owner', idList: ['5', '67'] }],
    ['owner: 5 , 6 ', { field: 'owner', idList: ['5', '6'] }],
    ['notCard:10:20,3', { field: 'notCard', idList: ['10:20', '3'] }],
    ['name:Revenue: net, all', { field: 'name', value: 'Revenue: net, all' }],
    // Unknown values are passed on, since only the platform knows its fields and their values.
    ['certified:maybe', { field: 'certified', value: 'maybe' }],
    ['created:yesterday', { field: 'created', value: 'yesterday' }],
  ])('%j is sent in the form of the platform, and accepted in a job', (filter, sent) => {
    const message = { version: 1, type: 'snapshot', source: 'calculations', as: 'some', filters: [filter] };

    expect(filterSchema.safeParse(filter).success).toBe(true);
    expect(requestFilter(filter)).toEqual(sent);
    expect(checkMessage(snapshotChecks, message)).toMatchObject({ kind: 'message' });
    const search = { filters: [sent], sort: { field: 'id', ascending: true } };
    expect(searchCalculations.input.parse({ body: search }).body.filters).toEqual([sent]);
  });

  test.each([
    ...[':1', ' :x', 'status: '],
    ...['dataset:', 'dataset:Sales'],
    ...['owner:1,a', 'owner:1,', 'owner:1a', 'owner:a1'],
    ...['card:a', 'card:1a', 'card:a1', 'card:1:', 'card::1', 'card:1:a'],
  ])('%j is refused, in a job too', (filter) => {
    const message = { version: 1, type: 'snapshot', source: 'calculations', as: 'some', filters: [filter] };

    expect(filterSchema.safeParse(filter).success).toBe(false);
    expect(checkMessage(snapshotChecks, message)).not.toMatchObject({ kind: 'message' });
  });
});
