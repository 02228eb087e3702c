import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonLimitError, MAX_DEPTH, parseJson, printJson } from '../../../lib/base/json/json.ts';
import { idDigits } from '../../../lib/platform/records.ts';
import { typesSeen } from '../../../lib/snapshot/page/record-fields.ts';
import { allDigits } from '../../../lib/snapshot/page/record-index.ts';
import { scanObject } from '../../../lib/snapshot/page/scan-response.ts';
import { pageIn } from '../../../lib/snapshot/sources/calculations/pages.ts';
import { scaled } from '../../scale.ts';
import { recordsIn } from '../batches.ts';

const wanted = { key: 'id', keyIs: 'integer' } as const;

/** Scans a page, and returns what was found of its records as lists. */
function scan(text: string) {
  const { found, member } = scanObject(Buffer.from(text), 'results', wanted);
  if (found === undefined) throw new Error('expected records');
  const { index, records } = found;
  return {
    records,
    keys: allDigits(index, records),
    starts: [...index.starts.subarray(0, records)],
    ends: [...index.ends.subarray(0, records)],
    fields: typesSeen(found.fields),
    member,
  };
}

/** The lines of all records of a page. */
function linesOf(text: string) {
  const { keys, batchOf } = pageIn(Buffer.from(text), 'id');
  return recordsIn(batchOf([...keys.keys()])).lines;
}
const fieldsOf = (text: string) => scan(text).fields;
const pageWith = (value: string) => `{"results":[{"id":1,"x":${value}}]}`;

/** The error that a page causes; undefined if it is accepted. */
function refusal(bytes: Buffer): unknown {
  try {
    pageIn(bytes, 'id');
    return undefined;
  } catch (error) {
    return error;
  }
}

const refusalOf = (text: string) => refusal(Buffer.from(text));

describe('a page', () => {
  const text =
    '{"totalHits": 3, "results":[{"id":9007199254740993,"n":1.10},{"id":7,"a":[{}],"n":null},{"id":-8}],"hasMore":false,"degraded":true}';

  test('has its records counted, their keys with all digits, and their bytes', () => {
    const page = scan(text);

    expect(page.records).toBe(3);
    expect(page.keys).toEqual(['9007199254740993', '7', '-8']);
    expect(page.starts.map((start, index) => text.slice(start, page.ends[index]))).toEqual([
      '{"id":9007199254740993,"n":1.10}',
      '{"id":7,"a":[{}],"n":null}',
      '{"id":-8}',
    ]);
  });

  test('has the members beside its list of records parsed', () => {
    const { member } = scan(text);

    expect(['totalHits', 'hasMore', 'degraded', 'x'].map(member)).toEqual([3, false, true, undefined]);
    expect(scan('{"a":{"b":[12345678901234567890]},"results":[]}').member('a')).toEqual({
      b: [12345678901234567890n],
    });
  });

  test('has the types of the top-level fields, collected over all records', () => {
    expect(fieldsOf(text)).toEqual({ id: ['number'], n: ['number', 'null'], a: ['array'] });
    expect(
      fieldsOf('{"results":[{"id":"1","t":true,"s":""},{"s":{},"t":false,"id":2},{"id":3,"x":{"y":1}}]}'),
    ).toEqual({ id: ['string', 'number'], t: ['boolean'], s: ['string', 'object'], x: ['object'] });
  });

  test.each([
    ['{"results":[]}', []],
    [' {\n"results" : [ \t\r\n ] } ', []],
    ['{"results":[{"id":1}],"results":[{"id":2}]}', ['2']],
    ['{"results":null,"results":[{"id":2}]}', ['2']],
    ['{"results":[{"no":1}],"results":[{"id":2}]}', ['2']],
    ['{"r\\u0065sults":[{"id":1}]}', ['1']],
    ['{"other":"results","x":[1],"results":[{"id":3}]}', ['3']],
    ['{"x":{"results":[{"id":1}]},"results":[]}', []],
    ['{"results":[{"id":1,"id":2}]}', ['2']],
    ['{"results":[{"x":{"id":5},"i\\u0064":1}]}', ['1']],
    ['{"results":[{"id":1},{"id": 2},{"id": \n 3},{"id" :4},{ "id":5}]}', ['1', '2', '3', '4', '5']],
    ['{"results":[{"id": 1},{"id": \n2},{"id":3}]}', ['1', '2', '3']],
    ['{"results":[{"id":"0012"}]}', ['12']],
    ['{"results":[{"id":"\\u0031"}]}', ['1']],
    ['{"results":[{"id":-0},{"id":0},{"id":1e2}]}', ['0', '0', '100']],
    ['{"results":[{"id":123456789012345},{"id":1234567890123456}]}', ['123456789012345', '1234567890123456']],
    ['{"results":[{"id":123456789012345678901234567890}]}', ['123456789012345678901234567890']],
    ['\uFEFF{"results":[{"id":1}]}', ['1']],
  ])('of %s has the keys %j', (text, keys) => {
    expect(scan(text).keys).toEqual(keys);
  });

  test('of thousands of records has the keys and the bytes of each', () => {
    const ids = Array.from({ length: 5_000 }, (_, at) =>
      at % 7 === 0 ? 2n ** 64n + BigInt(at) : BigInt(at),
    );
    const { keys, starts, ends } = scan(`{"results":[${ids.map((id) => `{"id":${id}}`)}]}`);

    expect(keys).toEqual(ids.map(String));
    expect(starts.map((start, at) => (ends[at] ?? 0) - start)).toEqual(
      ids.map((id) => `{"id":${id}}`.length),
    );
  });

  test('may have a member named __proto__', () => {
    const page = scan('{"__proto__":1,"results":[{"id":1,"__proto__":2}]}');

    expect(page.member('__proto__')).toBe(1);
    expect(page.member('toString')).toBeUndefined();
    expect(Object.keys(page.fields)).toEqual(['id', '__proto__']);
  });

  test('within a larger buffer has the right bytes', () => {
    const whole = Buffer.from('xxx{"results":[{"id":1,"name":"ü"},{"id":22,"name":"ü"}]}yyyyyyyy');
    const bytes = whole.subarray(3, whole.length - 8);

    const page = pageIn(bytes, 'id');

    expect(page.keys).toEqual(['1', '22']);
    expect(recordsIn(page.batchOf([1])).lines).toEqual(['{"id":22,"name":"ü"}']);
  });
});

describe('a page of records', () => {
  test.each([
    ['[]', 'results: expected an array'],
    ['7', 'results: expected an array'],
    ['{"totalHits":1}', 'results: expected an array'],
    ['{"results":null,"totalHits":"1"}', 'results: expected an array'],
    ['{"message":"busy"}', 'results: expected an array'],
    ['{"results":{}}', 'results: expected an array'],
    ['{"results":[{"id":1}],"results":null,"totalHits":1}', 'results: expected an array'],
    ['{"results":[[]]}', 'calculation 0'],
    ['{"results":[{"id":1.5,"name":"Margin"}]}', 'calculation 0 (“Margin”)'],
    ['{"results":[{"id":"a"},{}]}', 'calculation 0'],
    ['{"results":[{"id":null}]}', 'calculation 0'],
    ['{"results":[{"id":1,"id":[]}]}', 'calculation 0'],
  ])('is refused if it is %s, at %s', (text, at) => {
    const expected = at.startsWith('results')
      ? at
      : `${at}: expected an object with an integer of at most 64 digits as its id`;

    expect(refusalOf(text)).toEqual(new Error(expected));
  });

  test('leaves out and names rows without an id', () => {
    const page = pageIn(Buffer.from('{"results":[{"id":1},{"name":"Margin"},2,{"id":3}]}'), 'id');

    expect(page).toMatchObject({ keys: ['1', '3'], received: 4 });
    expect(recordsIn(page.batchOf([0, 1])).lines).toEqual(['{"id":1}', '{"id":3}']);
    expect(page.batchOf([1]).unnamed).toEqual(['(no id) Margin', '(no id)']);
  });

  test.each([
    ['null', 0],
    ['{}', 0],
    ['{"results":null,"totalHits":0}', 0],
    ['{"results":null,"totalHits":null,"hasMore":"no"}', 0],
    ['{"results":null,"totalHits":7}', 7],
  ])('may be %s after %i rows, which means that no rows are left', (text, offset) => {
    const page = pageIn(Buffer.from(text), 'id', { offset });

    expect({ keys: page.keys, records: page.batchOf([]).records }).toEqual({ keys: [], records: 0 });
  });

  test('with invalid JSON is reported as such before a wrong shape', () => {
    expect(refusalOf('{"results":[1,{"id":}]}')).toBeInstanceOf(SyntaxError);
    expect(refusalOf('[1,]')).toBeInstanceOf(SyntaxError);
  });
});

describe('the JSON parser', () => {
  test.each([
    ['', 'invalid JSON: it is incomplete and ends at byte 0'],
    ['{"results":[{"id":1', 'invalid JSON: it is incomplete and ends at byte 19'],
    ['{"results":[{"id":1}]}x', 'invalid JSON: unexpected 0x78 at byte 22'],
    ['{"results":[{"id":trux}]}', 'invalid JSON: unexpected 0x78 at byte 21'],
    ['{"results":[{"id":1,}]}', 'invalid JSON: unexpected 0x7d at byte 20'],
    ['{"results":[];"x":1}', 'invalid JSON: unexpected 0x3b at byte 13'],
    ['{"results":[{"id":1};{"id":2}]}', 'invalid JSON: unexpected 0x3b at byte 20'],
    ['{"results":[{"id":1;"x":2}]}', 'invalid JSON: unexpected 0x3b at byte 19'],
    // Each begins with some bytes of a byte order mark.
    ['\uFEFA{"results":[]}', 'invalid JSON: unexpected 0xef at byte 0'],
    ['\uFFFF{"results":[]}', 'invalid JSON: unexpected 0xef at byte 0'],
    ['\u1eff{"results":[]}', 'invalid JSON: unexpected 0xe1 at byte 0'],
    [' \u00ff{"results":[]}', 'invalid JSON: unexpected 0xc3 at byte 1'],
  ])('refuses %s, and names the byte', (text, message) => {
    expect(refusalOf(text)).toEqual(new SyntaxError(message));
  });

  test('refuses invalid UTF-8, and names the byte', () => {
    const bytes = Buffer.from('{"results":[{"id":1,"x":"é\uFFFD?"}]}');
    bytes[bytes.indexOf('?')] = 0xff;

    expect(refusal(bytes)).toEqual(new SyntaxError('invalid UTF-8 at byte 30'));
  });

  test.each(
    '0 -0 1 10 1.0 0.5 -1.25 1e5 1E+5 1e-5 0e0 0.0e00 1e05 - 01 -01 00 1. .5 -.5 1e 1e+ 1.e5 1.5e +1 0x1 1_0 1f NaN Infinity -Infinity'
      .split(' ')
      .map((number) => [number]),
  )('accepts %s as a number if and only if JSON.parse does', (number) => {
    expectSameVerdict(Buffer.from(pageWith(number)));
    expectSameVerdict(Buffer.from(pageWith(`[${number}]`)));
  });

  test.each(
    'true false null tru fals nul truee nulll True nUll t f n undefined trxe falsx [] {} [,] [1,] [1] [1 2] {,} {"a"} {"a":} {"a":1,} {a:1} {1:1} {"a":1"b":2} [}'
      .split(/ (?!2)/)
      .map((value) => [value]),
  )('accepts %s as a value if and only if JSON.parse does', (value) => {
    expectSameVerdict(Buffer.from(pageWith(value)));
    expectSameVerdict(Buffer.from(`{"results":[],"x":${value}}`));
  });

  test('agrees with JSON.parse on every byte after a backslash', () => {
    for (let code = 0; code < 128; code += 1) {
      expectSameVerdict(Buffer.from(pageWith(`"ab\\${String.fromCharCode(code)}0041"`)));
    }
  });

  test('agrees with JSON.parse on every byte in a string, at every position in a word of four', () => {
    for (let code = 0; code < 128; code += 1) {
      for (const before of ['', 'a', 'ab', 'abc', 'abcd']) {
        expectSameVerdict(Buffer.from(pageWith(`"${before}${String.fromCharCode(code)}é-tail"`)));
      }
    }
  });

  test('refuses a page at every byte where it can be cut off', () => {
    const bytes = Buffer.from('{"a":-1.5e+3,"results":[{"id":1,"x":"\\u00e9é\\n","y":[true,null]}],"b":{}} ');

    for (let length = 0; length < bytes.length - 1; length += 1) {
      expect(refusal(bytes.subarray(0, length))).toBeInstanceOf(SyntaxError);
    }
  });

  test('refuses nesting beyond the limit, and accepts one level less', () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    const withinRecord = MAX_DEPTH - 3;

    expect(refusalOf(pageWith(nested(withinRecord)))).toBeUndefined();
    expect(refusalOf(pageWith(nested(withinRecord + 1)))).toEqual(
      new JsonLimitError('expected at most 512 levels of nested arrays and objects, got more at byte 533'),
    );
    expect(refusalOf('{"a":'.repeat(1_000_000))).toHaveProperty(
      'message',
      expect.stringMatching(/at most 512 levels/),
    );
  });
});

describe('the lines of a page', () => {
  test('are its records byte for byte', () => {
    expect(linesOf('{"results":[{"id":1,"n": 1.10} , {"id":2},{"id":3}]}')).toEqual([
      '{"id":1,"n": 1.10}',
      '{"id":2}',
      '{"id":3}',
    ]);
    expect(linesOf('{"results":[]}')).toEqual([]);
  });

  test('have a space for each line end of a record, and are otherwise as they were sent', () => {
    const text = '{"results":[{"id":1,"x":"\\n"},{\r"id":9007199254740993},{"id":3,"y":[\n1e400,-0.0]}]}';

    expect(linesOf(text)).toEqual([
      '{"id":1,"x":"\\n"}',
      '{ "id":9007199254740993}',
      '{"id":3,"y":[ 1e400,-0.0]}',
    ]);
  });
});

const json = fc.jsonValue({ maxDepth: 3 });
const record = fc
  .tuple(
    fc.oneof(fc.bigInt(-(2n ** 70n), 2n ** 70n), fc.integer(), fc.bigInt().map(String)),
    fc.dictionary(fc.oneof(fc.constantFrom('name', 'names', 'a', '', 'ü', '"'), fc.string()), json),
    fc.boolean(),
  )
  .map(([id, rest, isFirst]) => (isFirst ? { id, ...rest, id2: 1 } : { ...rest, id }))
  .map((each) => ('id' in each ? each : { id: 1 }));
const page = fc
  .tuple(fc.dictionary(fc.string(), json), fc.array(record), fc.dictionary(fc.string(), json))
  .map(([before, results, after]) => ({ ...before, results, ...after, results2: 0 }));

describe('any page', () => {
  test('yields the same as parsing it whole, whatever the white space', () => {
    fc.assert(
      fc.property(page, fc.constantFrom('', ' ', '   ', '\t', '\n'), (value, space) => {
        const text = JSON.stringify(
          value,
          (_key, part) => (typeof part === 'bigint' ? JSON.rawJSON(String(part)) : part),
          space,
        );
        // V8 confuses two names if one ends in a backslash and the other continues with `\"` there.
        fc.pre(!/\\\\"\s*:/.test(text));
        const { results, ...head } = parseJson(text) as { results: Record<string, unknown>[] };
        fc.pre(Array.isArray(results) && results.every((each) => idDigits(each['id']) !== undefined));

        const scanned = scan(text);

        expect(scanned.records).toBe(results.length);
        expect(scanned.keys).toEqual(results.map((each) => idDigits(each['id'])));
        for (const [name, value] of Object.entries(head)) expect(scanned.member(name)).toEqual(value);
        expect(fieldsOf(text)).toEqual(naiveFields(results));
        expect(linesOf(text).map((line) => printJson(parseJson(line)))).toEqual(
          results.map((each) => printJson(each)),
        );
      }),
      { numRuns: scaled(60, 300) },
    );
  });

  test('with bytes changed, inserted, removed or cut off is accepted if and only if it is still a page', () => {
    const tellingBytes = fc.constantFrom(...Buffer.from('"\\{}[]:,0123456789.eE+-tfnu \n\r\t\u0000\u001f/é'));
    const byte = fc.oneof(tellingBytes, fc.nat(255));
    const edit = fc.record({ at: fc.nat(), remove: fc.nat(2), add: fc.array(byte, { maxLength: 2 }) });
    const cut = fc.option(fc.nat());
    // Records with the same layout and repeated names.
    const alike = [1, 2n ** 64n, 3].map((id) => ({ id, name: 'é"\\', links: [{}, [-1.5]], on: true }));
    const pages = fc.oneof(page, fc.constant({ totalHits: 1e21, results: alike, hasMore: null }));
    fc.assert(
      fc.property(pages, fc.nat(1), fc.array(edit, { maxLength: 2 }), cut, (value, space, edits, length) => {
        let bytes = [...Buffer.from(printJson(value, space))];
        for (const { at, remove, add } of edits) bytes = bytes.toSpliced(at % bytes.length, remove, ...add);

        expectSameVerdict(Buffer.from(length === null ? bytes : bytes.slice(0, length % bytes.length)));
      }),
      { numRuns: scaled(250, 2_500) },
    );
  });
});

/** The types of each field, computed from parsed records. */
function naiveFields(records: readonly Record<string, unknown>[]): Record<string, string[]> {
  const order = ['string', 'number', 'boolean', 'object', 'array', 'null'];
  const typeOf = (value: unknown) =>
    value === null
      ? 'null'
      : Array.isArray(value)
        ? 'array'
        : typeof value === 'bigint'
          ? 'number'
          : typeof value;
  const names = new Set(records.flatMap((each) => Object.keys(each)));
  return Object.fromEntries(
    [...names].map((name) => {
      const having = records.filter((each) => Object.hasOwn(each, name));
      const types = new Set<string>(having.map((each) => typeOf(each[name])));
      return [name, order.filter((type) => types.has(type))];
    }),
  );
}

/** The scanner must refuse as invalid what `JSON.parse` refuses, refuse what is not a page, and accept the rest. */
function expectSameVerdict(bytes: Buffer): void {
  const error = refusal(bytes);

  expect(`${error === undefined ? 'page' : (error as Error).name}: ${bytes}`).toBe(
    `${slowVerdict(bytes)}: ${bytes}`,
  );
}

function slowVerdict(bytes: Buffer): string {
  let value: unknown;
  try {
    value = parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return 'SyntaxError';
  }
  const results =
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)['results']
      : undefined;
  if (!Array.isArray(results)) return isNothing(value, results) ? 'page' : 'Error';
  const isRecord = (each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each) && 'id' in each && hasDigits(each.id);
  return results.length === 0 || results.some(isRecord) ? 'page' : 'Error';
}

/** True if there are no records: no list, no total above 0 and, without a total, no other possible list. */
function isNothing(value: unknown, results: unknown): boolean {
  if (typeof value !== 'object' || Array.isArray(value) || (results ?? null) !== null) return false;
  const { totalHits: total, ...others } = Object(value ?? {});
  const hits = typeof total === 'number' ? total : hasDigits(total) ? BigInt(total) : undefined;
  if (hits !== undefined && hits >= 0) return hits <= 0;
  return !Object.values(others).some(
    (each) => typeof each === 'object' && /[^[\]{},:nul"]/.test(printJson(each)),
  );
}

const hasDigits = (value: unknown) => idDigits(value) !== undefined;
