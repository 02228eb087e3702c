import { expect, expectTypeOf, test } from 'vitest';
import type {
  Calculation,
  Card,
  DataFile,
  FileRecord,
  FunctionExecution,
} from '../../lib/entries/platform.ts';
import { fakeCall, ok } from './fake-call.ts';
import { calculationRow, calculations } from './sample-records.ts';

const search = { sort: { field: 'id', ascending: true } };

test('a misspelt field of a row does not compile, and fields outside the contract are unknown', async () => {
  const { platform } = fakeCall([ok(calculations(calculationRow({ colour: 'red' })))]);

  const [row] = (await platform.calculations.search(search)).rows;
  if (row === undefined) throw new Error('expected a row');
  // @ts-expect-error The member is spelt lastModified.
  const misspelt: unknown = row.lastModifed;
  // @ts-expect-error The contract has no such member.
  const { colour }: { colour: unknown } = row;

  expectTypeOf(row.id).toEqualTypeOf<string>();
  // Code must not rely on its type, since the platform may send any value.
  expectTypeOf(row.lastModified).toEqualTypeOf<unknown>();
  expect([misspelt, colour, (row as Record<string, unknown>)['colour']]).toEqual([undefined, 'red', 'red']);
});

test('no record type has an index signature', () => {
  expectTypeOf<string>().not.toExtend<keyof Calculation>();
  expectTypeOf<string>().not.toExtend<keyof Card>();
  expectTypeOf<string>().not.toExtend<keyof DataFile>();
  expectTypeOf<string>().not.toExtend<keyof FileRecord>();
  expectTypeOf<string>().not.toExtend<keyof FunctionExecution>();
});
