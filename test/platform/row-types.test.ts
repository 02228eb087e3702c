import { expect, expectTypeOf, test } from 'vitest';
import type {
  Calculation,
  Card,
  DataFile,
  FileRecord,
  FunctionExecution,
} from '../../lib/entries/platform.ts';
import { fakeCall, ok } from './fake-call.ts';
import { calculation, calculationRow, calculations, card, dataFile, revision } from './sample-records.ts';

const search = { sort: { field: 'id', ascending: true } };

test('a misspelt field of a row does not compile, and what the contract does not name is unknown', async () => {
  const { platform } = fakeCall([ok(calculations(calculationRow({ colour: 'red' })))]);

  const [row] = (await platform.calculations.search(search)).rows;
  if (row === undefined) throw new Error('expected a row');
  // @ts-expect-error It is spelt lastModified.
  const misspelt: unknown = row.lastModifed;
  // @ts-expect-error The contract does not name it.
  const { colour }: { colour: unknown } = row;

  expectTypeOf(row.lastModified).toEqualTypeOf<string | number | null>();
  expectTypeOf(row.activeLinks).toEqualTypeOf<Record<string, unknown> | null>();
  expect([misspelt, colour, (row as Record<string, unknown>)['colour']]).toEqual([undefined, 'red', 'red']);
});

test('nor does one within a row', async () => {
  const { platform } = fakeCall([
    ok(calculations(calculationRow())),
    ok(calculation()),
    ok([card({ owners: [{ id: '5' }] })]),
    ok(dataFile({ currentRevision: revision() })),
  ]);

  const [row] = (await platform.calculations.search(search)).rows;
  const updated = await platform.calculations.updateFormula(17, 'SUM(1)');
  const [first] = await platform.cards.ofDataset('set-1');
  const { currentRevision } = await platform.dataFiles.get('12');

  // @ts-expect-error It is spelt resource.
  expect(row?.links?.[0]?.ressource).toBeUndefined();
  // @ts-expect-error It is spelt columnName.
  expect(updated.columnPositions?.[0]?.name).toBeUndefined();
  // @ts-expect-error It is spelt displayName.
  expect(first?.owners?.[0]?.name).toBeUndefined();
  // @ts-expect-error It is spelt sizeBytes.
  expect(currentRevision?.size).toBeUndefined();
});

test('no record has names of any kind', () => {
  expectTypeOf<string>().not.toExtend<keyof Calculation>();
  expectTypeOf<string>().not.toExtend<keyof Card>();
  expectTypeOf<string>().not.toExtend<keyof DataFile>();
  expectTypeOf<string>().not.toExtend<keyof FileRecord>();
  expectTypeOf<string>().not.toExtend<keyof FunctionExecution>();
  expectTypeOf<keyof NonNullable<FunctionExecution['errorInformation']>>()
    .extract<string>()
    .toExtend<
      | 'result'
      | 'expectedType'
      | 'actualType'
      | 'expectedIsList'
      | 'actualIsList'
      | 'expectedAllowNull'
      | 'errorMessages'
    >();
});
