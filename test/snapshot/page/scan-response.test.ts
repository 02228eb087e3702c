import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonLimitError, parseJson, printJson } from '../../../lib/base/json/json.ts';
import { idDigits } from '../../../lib/platform/records.ts';
import { scanList, scanObject, scanRecord } from '../../../lib/snapshot/page/scan-response.ts';
import { cardsIn } from '../../../lib/snapshot/sources/cards/scan.ts';
import { scaled } from '../../scale.ts';
import { recordsIn } from '../batches.ts';

const runs = { numRuns: scaled(60, 600) };

const value = fc.jsonValue({ maxDepth: 2 });
const integer = fc.oneof(
  fc.integer(),
  fc.bigInt(-(2n ** 70n), 2n ** 70n),
  fc.bigInt(0n, 2n ** 70n).map(String),
);
const dataset = fc.constantFrom('d1', 'd2', 'é"\\', null);
const card = fc
  .tuple(fc.dictionary(fc.string(), value), integer, dataset)
  .map(([rest, id, datasourceId]) => ({ ...rest, id, datasourceId }));

// V8 confuses two names if one ends in a backslash and the other continues with `\"` there.
const isReadable = (text: string) => !/\\\\"\s*:/.test(text);

describe('a list of cards', () => {
  test('has its dataset recognized, however the id is written', () => {
    const text =
      '[{"id":1,"datasourceId":"\\u0064\\u0031"},{"id":2,"datasourceId":"d\\u0032"},{"id":3,"datasourceId":"d1 "}]';

    expect(recordsIn(cardsIn(Buffer.from(text), 'd1')).lines).toEqual([
      '{"id":1,"datasourceId":"\\u0064\\u0031"}',
      '{"_datasetId":"d1","id":2,"datasourceId":"d\\u0032"}',
      '{"_datasetId":"d1","id":3,"datasourceId":"d1 "}',
    ]);
  });

  test('has the types of the fields of all cards, and of the added member', () => {
    const { fields } = cardsIn(Buffer.from('[{"id":1,"a":""},{"id":2,"a":null,"datasourceId":"d"}]'), 'd');

    expect(fields).toEqual({
      id: ['number'],
      a: ['string', 'null'],
      datasourceId: ['string'],
      _datasetId: ['string'],
    });
  });
});

test('bytes are accepted as a list, or as a record with a key, exactly if parsing them finds one', () => {
  const bytes = fc
    .tuple(fc.oneof(fc.array(card), card), fc.nat(400), fc.constantFrom(...'"\\{}[]:,0e.- n'))
    .map(([json, at, byte]) => {
      const text = Buffer.from(printJson(json));
      if (at < text.length) text.write(byte, at);
      return text;
    });
  fc.assert(
    fc.property(bytes, (text) => {
      fc.pre(isReadable(text.toString()));
      const wanted = { key: 'id', keyIs: 'integer' } as const;

      expect(verdict(() => scanList(text, wanted))).toBe(
        slowVerdict(text, (json) => (Array.isArray(json) ? json : undefined)),
      );
      // For a single record the caller names the required key.
      expect(verdict(() => scanRecord(text, wanted))).toBe(slowVerdict(text, () => [{ id: 1 }]));
    }),
    runs,
  );
});

describe('after a response', () => {
  const wanted = { key: 'id', keyIs: 'integer' } as const;

  test.each([
    ['a list', () => scanList(Buffer.from('[{"id":1}] 2'), wanted), 11],
    ['a value that is not a list', () => scanList(Buffer.from('{"id":1} 2'), wanted), 9],
    ['a record', () => scanRecord(Buffer.from('{"id":1} 2'), wanted), 9],
    ['an object', () => scanObject(Buffer.from('{"id":1} 2'), 'a', wanted), 9],
    ['a value that is not an object', () => scanObject(Buffer.from('[{"id":1}] 2'), 'a', wanted), 11],
  ])('there may only be white space: %s', (_, scan, at) => {
    expect(scan).toThrow(`invalid JSON: unexpected 0x32 at byte ${at}`);
  });
});

describe('a member of a response', () => {
  const memberOf = (text: string) =>
    scanObject(Buffer.from(text), 'rows', { key: 'id', keyIs: 'integer' }).member('a');

  test('is the last one of its name', () => {
    expect(memberOf('{"a":1,"rows":[],"a":[2]}')).toEqual([2]);
    expect(memberOf('{"b":1}')).toBeUndefined();
    expect(memberOf('[]')).toBeUndefined();
  });

  test('is not parsed if it has more values than fit into memory', () => {
    const many = `{"a":[${'0,'.repeat(1_000_000)}0]}`;

    expect(() => memberOf(many)).toThrow(JsonLimitError);
  });

  test('is counted once, however often it is repeated', () => {
    const text = `{${'"a":0,'.repeat(10_001)}"b":0}`;

    expect(memberOf(text)).toBe(0);
    expect(() => memberOf(`{${Array.from({ length: 10_001 }, (_, at) => `"${at}":0`)}}`)).toThrow(
      'expected records with at most 10000 different field names in a response, got more',
    );
  });
});

test('the byte that is invalid UTF-8 is named, even if it is the first or the last one', () => {
  const scan = (text: string, ...rest: readonly number[]) =>
    scanRecord(Buffer.concat([Buffer.from(text), Buffer.from(rest)]), { key: 'id', keyIs: 'integer' });

  expect(() => scan('', 0xff)).toThrow(new SyntaxError('invalid UTF-8 at byte 0'));
  expect(() => scan('"é', 0xff, 0x22)).toThrow(new SyntaxError('invalid UTF-8 at byte 3'));
  expect(() => scan('"a', 0xc3)).toThrow(new SyntaxError('invalid UTF-8 at byte 2'));
  // These are the bytes of U+FFFD without its last one. Decoding replaces them by U+FFFD, so the first difference is
  // after them.
  expect(() => scan('"a', 0xef, 0xbf)).toThrow(new SyntaxError('invalid UTF-8 at byte 4'));
});

function verdict(scan: () => ReturnType<typeof scanList>): string {
  try {
    const found = scan();
    return found === undefined ? 'no list' : `${found.records}, ${found.keyless.length}`;
  } catch (error) {
    return (error as Error).name;
  }
}

function slowVerdict(text: Buffer, recordsOf: (json: unknown) => readonly unknown[] | undefined): string {
  try {
    const records = recordsOf(parseJson(new TextDecoder('utf-8', { fatal: true }).decode(text)));
    if (records === undefined) return 'no list';
    const having = records.filter(hasId).length;
    return `${having}, ${records.length - having}`;
  } catch {
    return 'SyntaxError';
  }
}

const hasId = (each: unknown) =>
  typeof each === 'object' &&
  each !== null &&
  !Array.isArray(each) &&
  'id' in each &&
  idDigits(each.id) !== undefined;
