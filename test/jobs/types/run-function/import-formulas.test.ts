import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { runFunction } from '../../../../lib/jobs/types/run-function/definition.ts';
import { readFormulaList } from '../../../../lib/jobs/types/run-function/import-formulas.ts';
import { listFormulas } from '../../../../lib/model/formulas/known-formulas.ts';
import type { Call } from '../../../../lib/platform/index.ts';
import { fakeWorker } from '../../fake-worker.ts';
import { runnerOf } from '../../runner-of.ts';

const read = (text: string | Buffer, name = 'list') =>
  readFormulaList(Readable.from([Buffer.from(text)]), { name });

const formula = (id: string, expression: string, name: string | null = null, ...datasetIds: string[]) => ({
  id,
  expression,
  name,
  datasetIds,
});

describe('a list of formulas', () => {
  test.each([
    ['CSV', 'id,expression,name\n7,SUM(`a`),Sum\n8,"`b`\n+ 1",\n'],
    ['CSV with semicolons and other columns', 'x;name;expression;id\n1;Sum;SUM(`a`);7\n;;"`b`\n+ 1";8\n'],
    ['NDJSON', '{"id":7,"expression":"SUM(`a`)","name":"Sum"}\n{"id":"8","expression":"`b`\\n+ 1"}\n'],
    [
      'a JSON array',
      '[{"id":7,"expression":"SUM(`a`)","name":"Sum"},{"id":"08","expression":"`b`\\n+ 1","name":null}]',
    ],
  ])('is read as %s', async (_, text) => {
    const { formulas, faulty, empty } = await read(text);

    expect({ formulas, faulty, empty }).toEqual({
      formulas: [formula('7', 'SUM(`a`)', 'Sum'), formula('8', '`b`\n+ 1')],
      faulty: 0,
      empty: 0,
    });
  });

  test('may name several datasets of a calculation in several rows', async () => {
    const { formulas, faulty } = await read('id,expression,datasetId\n7,`a`,d-1\n7,`a`,d-2\n7,`a`,d-1\n');

    expect({ formulas, faulty }).toEqual({ formulas: [formula('7', '`a`', null, 'd-1', 'd-2')], faulty: 0 });
  });

  test('with two formulas for a calculation yields neither, and names both lines', async () => {
    const list = await read('id,expression\n7,`a`\n8,`b`\n7,`c`\n7,`a`\n');

    expect(list).toMatchObject({
      formulas: [formula('8', '`b`')],
      faulty: 3,
      faults: ['line 4: calculation 7 has another formula on line 2; neither is imported'],
    });
  });

  test('with faulty and empty rows names the faulty rows, counts the empty rows, and yields all other rows', async () => {
    const list = await read(
      '[{"id":7,"expression":"`a`"},{"id":"x","expression":"`b`"},{"expression":"`c`"},{"id":9},5,{"id":10,"expression":null},{"id":11,"expression":" "}]',
    );

    expect(list).toMatchObject({
      formulas: [formula('7', '`a`')],
      empty: 2,
      faulty: 4,
      faults: [
        'line 2: id: expected the digits of an integer, got "x"',
        'line 3: id: expected a field of this name in the row, got none',
        'line 4: expression: expected a field of this name in the row, got none',
        'line 5: the line: expected a JSON object, got 5',
      ],
    });
  });

  test.each([
    [
      'has no column of that name',
      'id,formula\n7,`a`\n',
      /columns: expected "expression", got a header with "id", "formula"/,
    ],
    ['is a text', 'hello', /columns: expected "expression", "id", got a header with "hello"/],
    ['is empty', '', /the header: expected column names, got nothing/],
    ['is a workbook', Buffer.from('PK\x03\x04xl/'), /got an Excel workbook/],
    ['is cut', '[{"id":7,"expression":"`a`"},', /a JSON array that does not end/],
  ])('that %s is refused', async (_, text, message) => {
    await expect(read(text)).rejects.toThrow(message);
  });

  test('may be empty', async () => {
    expect(await read('[]')).toMatchObject({ formulas: [], faulty: 0 });
  });
});

const asked = {
  version: 1,
  type: 'run-function',
  id: 'nightly',
  packageId: '6f1d2c84-3b7e-4a59-9c0d-8e25b1a7f403',
  packageVersion: '1.0.0',
  functionName: 'list',
} as const;

/** Runs a job twice, as if its message came again, with this execution; returns what was imported. */
async function importedBy(execution: object, message: object = { ...asked, importFormulas: true }) {
  const body = JSON.stringify({ executionId: 'e1', status: 'SUCCESS', ...execution });
  const call = {
    read: async (_: unknown, __: unknown, make: (bytes: Buffer) => unknown) => make(Buffer.from(body)),
  };
  const fake = fakeWorker({
    'run-function': runnerOf(runFunction, { call: call as unknown as Call }),
  });
  await fake.handle(message);
  await fake.handle(message);
  const formulas = await (await listFormulas(fake.store)).read();
  const imports = await Array.fromAsync(fake.store.list('formulas/imported/'));
  const { outcome } = (await fake.worker.ledger.read('nightly')) ?? {};
  return {
    texts: Array.from(formulas, ([id, { expression }]) => `${id} ${expression}`),
    imports: imports.length,
    outcome: { status: outcome?.status, error: outcome?.error },
  };
}

describe('a job that imports formulas', () => {
  const list = [
    { id: 7, expression: '`a`' },
    { id: 8, expression: '`b`' },
  ];

  test.each([
    ['a list', list],
    ['text that contains a JSON list', JSON.stringify(list)],
    ['text that contains CSV', 'id,expression\n7,`a`\n8,`b`\n'],
    ['a list of more than a megabyte', [...list, ...Array.from({ length: 30_000 }, () => list[0])]],
  ])('stores once what its function returns: %s', async (_, result) => {
    expect(await importedBy({ result })).toEqual({
      texts: ['7 `a`', '8 `b`'],
      imports: 1,
      outcome: { status: 'done', error: undefined },
    });
  });

  test.each([
    ['no list', { a: 1 }, /expected a list of \{id, expression\}, got/],
    ['nothing', null, /expected a list of \{id, expression\}, got null/],
    ['an empty list', [], /expected formulas, got none/],
    [
      'a list without formulas',
      [{ name: 'x' }],
      /0 formulas are imported, and 1 rows or lists are not, because they are invalid: line 1: .*expected a field of this name in the row, got none/,
    ],
  ])('has failed, and counts as executed, if its function returns %s', async (_, result, message) => {
    const { outcome, imports } = await importedBy({ result });

    expect(outcome).toEqual({
      status: 'failed',
      error: { kind: 'execution', message: expect.stringMatching(message) },
    });
    expect(imports).toBe(0);
  });

  test('stores the other formulas, and has failed, if some are unusable', async () => {
    const { texts, outcome } = await importedBy({ result: [...list, { id: 'x', expression: '1' }] });

    expect(texts).toEqual(['7 `a`', '8 `b`']);
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('line 3') },
    });
  });

  test('stores nothing if its function failed, or if the import was not requested', async () => {
    expect(await importedBy({ status: 'FAILED', result: list })).toMatchObject({
      imports: 0,
      outcome: { status: 'failed' },
    });
    expect(await importedBy({ result: list }, asked)).toMatchObject({
      imports: 0,
      outcome: { status: 'done' },
    });
  });

  test.each([false, 'yes', 1])('is requested by true only, not by %j', (importFormulas) => {
    expect(runFunction.schema.safeParse({ ...asked, importFormulas }).success).toBe(false);
  });
});
