import { describe, expect, test } from 'vitest';
import { filePageReader } from '../../../../lib/snapshot/sources/files/fileset-read.ts';
import { caught } from '../../../platform/caught.ts';
import { recordsIn } from '../../batches.ts';
import { respondingCall } from '../../responding-call.ts';

const FILESET = '0b9f8a52-7b1c-4a57-9d0e-6f0a5f4f2c11';

const readPage = (text: string) =>
  filePageReader(
    respondingCall(() => text),
    {},
  )({ filesetId: FILESET, next: null });

test('a page of files is requested with its search, its cursor and its signal, in the order of creation', async () => {
  const requests: unknown[] = [];
  const call = respondingCall((input, signal) => {
    requests.push([input, signal]);
    return '{"files":[]}';
  });
  const { signal } = new AbortController();
  const filters = [{ field: 'size', operator: 'EQUALS', value: ['1'] }];
  const search = { directoryPath: '/a', immediateChildren: true, limit: 7, filters };

  const read = filePageReader(call, search);
  await read({ filesetId: FILESET, next: null, signal });
  await read({ filesetId: FILESET, next: 'k' });

  const path = { filesetId: FILESET };
  const query = { directoryPath: '/a', immediateChildren: true, limit: 7 };
  const fieldSort = [
    { field: 'created', order: 'ASC' },
    { field: 'id', order: 'ASC' },
  ];
  const body = { filters, fieldSort };
  expect(requests).toEqual([
    [{ path, query: { ...query, next: undefined }, body }, signal],
    [{ path, query: { ...query, next: 'k' }, body }, undefined],
  ]);
});

describe('the files of a page', () => {
  test('have their keys and the times of their creation', async () => {
    const created = ['5', '"1970-01-01T00:00:01Z"', 'null', '"yesterday"', '["2020"]'];
    const files = [...created.map((time, at) => `{"id":"${at}","created":${time}}`), '{"id":"\\u00e9"}'];
    const page = await readPage(`{"files":[${files}],"pageContext":{}}`);

    const rows = [...Array(6).keys()];
    expect(page.files).toBe(6);
    expect(rows.map(page.keyOf)).toEqual(['0', '1', '2', '3', '4', 'é'].map((id) => `${FILESET}/${id}`));
    expect(rows.map(page.createdMs)).toEqual([5, 1_000, NaN, NaN, NaN, NaN]);
  });

  test('are a batch in any order, with the FileSet’s id first', async () => {
    const { batchOf } = await readPage('{"files":[{"id":"a"},{"id":"b","x":1}]}');
    const batch = batchOf(Uint32Array.of(1, 0));

    expect(recordsIn(batch)).toEqual({
      keys: [`${FILESET}/b`, `${FILESET}/a`],
      lines: [`{"_filesetId":"${FILESET}","id":"b","x":1}`, `{"_filesetId":"${FILESET}","id":"a"}`],
    });
    expect(batch.fields).toEqual({ _filesetId: ['string'], id: ['string'], x: ['number'] });
  });

  test.each([
    '{"pageContext":{}}',
    '{"pageContext":{"offset":0,"limit":3}}',
    '{"files":null,"pageContext":{}}',
    '{"files":[],"pageContext":7}',
  ])('may be missing: %s', async (text) => {
    const page = await readPage(text);

    expect(page).toMatchObject({ files: 0, next: null, total: null });
    expect(page.batchOf(Uint32Array.of()).records).toBe(0);
  });
});

test.each([
  ['{"next":null,"total":9}', 9],
  ['{"next":null,"offset":9,"limit":3}', null],
])('a page without a list after a cursor, with the context %s, is empty', async (context, total) => {
  const call = respondingCall(() => `{"pageContext":${context}}`);

  const page = await filePageReader(call, {})({ filesetId: FILESET, next: 'k' });

  expect(page).toMatchObject({ files: 0, next: null, total });
});

test.each([
  ['{}', null, null],
  ['{"next":null,"total":null}', null, null],
  ['{"next":"","total":0}', null, 0],
  ['{"next":"k","total":7}', 'k', 7],
  ['{"next":7,"total":"7"}', '7', 7],
  ['{"next":9007199254740993,"total":{}}', '9007199254740993', null],
  ['null', null, null],
  ['"odd"', null, null],
])('a page context of %s has the cursor %j and the total %j', async (context, next, total) => {
  expect(await readPage(`{"files":[],"pageContext":${context}}`)).toMatchObject({ next, total });
});

test.each([
  ['{"message":"hello"}', 'files: expected an array'],
  ['{"files":null,"pageContext":{"total":1}}', 'files: expected an array'],
  ['{"pageContext":{},"items":[{"id":"a"}]}', 'files: expected an array'],
  ['{"pageContext":{"items":[{"id":"a"}]}}', 'files: expected an array'],
  ['{"pageContext":{"total":"1"}}', 'files: expected an array'],
  ['{"files":{},"pageContext":{}}', 'files: expected an array'],
  ['[]', 'files: expected an array'],
  ['7', 'files: expected an array'],
  ['{"files":[],"pageContext":{"next":{}}}', 'pageContext.next: expected text or null'],
  ['{"files":[{"id":""}]}', 'file 0: expected an object with a string as its id'],
  ['{"files":[{"id":7,"path":""}]}', 'file 0: expected an object with a string as its id'],
  ['{"files":[{"id":7,"path":8}]}', 'file 0: expected an object with a string as its id'],
  [
    `{"files":[{"path":"/${'p'.repeat(200)}"},{}]}`,
    `file 0 (“/${'p'.repeat(199)}”): expected an object with a string as its id`,
  ],
])('%s is refused as a page: %s', async (text, fault) => {
  const error = await caught(readPage(text));

  expect(error.failure).toEqual({ kind: 'shape', faults: [fault] });
});
