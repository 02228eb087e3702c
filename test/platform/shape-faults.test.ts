import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { searchCalculations } from '../../lib/platform/operations/search-calculations.ts';
import { caught } from './caught.ts';
import { fakeCall, ok } from './fake-call.ts';

const row = z.object({ id: z.number(), name: z.string() });
const pages = { ...searchCalculations, output: () => z.object({ results: z.array(row) }) };

/** The faults that the client finds in a response. */
async function faultsOf(json: unknown): Promise<readonly string[]> {
  const { platform } = fakeCall([ok(json)]);
  const input = { body: { sort: { field: 'id', ascending: true } } };
  const { failure } = await caught(platform.call(pages, input));
  return failure.kind === 'shape' ? failure.faults : [];
}

test('the path of a fault names a record without an id by its position, and the whole response as “the response”', async () => {
  expect(await faultsOf({ results: [{}] })).toEqual([
    'results.0.id: expected a number, got nothing',
    'results.0.name: expected text, got nothing',
  ]);
  expect(await faultsOf({ results: [{ id: {}, name: 'a' }, 7] })).toEqual([
    'results.0.id: expected a number, got an object',
    'results.1: expected an object, got 7',
  ]);
  expect(await faultsOf(7)).toEqual(['the response: expected an object, got 7']);
});

test('a fault that quotes a long value is shortened', async () => {
  const [fault = ''] = await faultsOf({ results: [{ id: 'x'.repeat(400), name: 'a' }] });

  expect(fault).toHaveLength(301);
  expect(fault.endsWith('…')).toBe(true);
});
