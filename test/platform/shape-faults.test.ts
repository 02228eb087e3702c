import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { shapeFaults } from '../../lib/platform/call.ts';

const row = z.object({ id: z.number(), name: z.string() });
const page = z.object({ results: z.array(row) });

function faultsOf(json: unknown, hide = (text: string) => text): readonly string[] {
  const parsed = page.safeParse(json);
  return parsed.success ? [] : shapeFaults(parsed.error, json, { hide });
}

test('a place without an id is named by its path, and the whole as the response', () => {
  expect(faultsOf({ results: [{}] })).toEqual([
    'results.0.id: expected a number, got nothing',
    'results.0.name: expected text, got nothing',
  ]);
  expect(faultsOf({ results: [{ id: {}, name: 'a' }, 7] })).toEqual([
    'results.0.id: expected a number, got an object',
    'results.1: expected an object, got 7',
  ]);
  expect(faultsOf(7)).toEqual(['the response: expected an object, got 7']);
});

test('a fault that quotes something long is shortened', () => {
  const [fault = ''] = faultsOf({ results: [{ id: 'x'.repeat(400), name: 'a' }] });

  expect(fault).toHaveLength(301);
  expect(fault.endsWith('…')).toBe(true);
});
