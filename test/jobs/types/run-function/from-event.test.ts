import { describe, expect, test } from 'vitest';
import { printJson } from '../../../../lib/base/json/json.ts';
import { parseMessage } from '../../../../lib/jobs/message/message.ts';

const EVENT_ID = '17793124-05d4-b198-2fde-7ededc63b103';
const call = {
  version: 1,
  type: 'run-function',
  packageId: '0f8fad5b-d9cb-469f-a165-70867728950e',
  packageVersion: '1.0.0',
  functionName: 'greet',
};

const parseText = (text: string) => parseMessage(text, { messageId: 'of-the-queue', allow: {} });
const parse = (message: object) => parseText(printJson({ ...call, ...message }));

/** Parses the message of a rule for an event with this detail. */
const parseEvent = (inputVariables: unknown, detail: unknown, rule: unknown = 'uploads') =>
  parse({ rule, inputVariables, event: { id: EVENT_ID, source: 'mine', detail } });

function variablesOf(inputVariables: unknown, detail: unknown): unknown {
  const parsed = parseEvent(inputVariables, detail);
  if (parsed.kind === 'refused') throw new Error(parsed.faults.join('; '));
  return parsed.job.type === 'run-function' ? parsed.job.inputVariables : undefined;
}

function faultsOf(inputVariables: unknown, detail: unknown): readonly string[] {
  const parsed = parseEvent(inputVariables, detail);
  return parsed.kind === 'refused' ? parsed.faults : [];
}

describe('a field of the event', () => {
  test.each([
    ['a number', 5],
    ['a number of twenty digits', 12345678901234567890n],
    ['a text in quotes', 'a "quoted" \\ name'],
    ['an empty text', ''],
    ['a text that looks like a path', '$.detail.other'],
    ['text beyond the basic plane', 'Ünïcode 😀'],
    ['null', null],
    ['false', false],
    ['nested lists', [[1, [2]], [], [null]]],
    ['an object', { a: { b: ['c'] }, $path: '$.x' }],
  ])('keeps its type: %s', (_, x) => {
    expect(variablesOf({ x: '$.detail.x' }, { x })).toEqual({ x });
  });

  test('can be found in lists, in objects, and by a quoted name', () => {
    const detail = { files: [{ name: 'a' }, { name: 'b' }], tags: { 'aws:stack id': 's', length: 7 } };

    const paths = {
      second: ['$.detail.files[1].name', 'and'],
      tags: { stack: "$.detail.tags['aws:stack id']", length: '$.detail.tags.length' },
      files: '$.detail.files',
      fixed: 5,
    };

    expect(variablesOf(paths, detail)).toEqual({
      second: ['b', 'and'],
      tags: { stack: 's', length: 7 },
      files: detail.files,
      fixed: 5,
    });
  });

  test('may be the whole event, and the variables may be one of its objects', () => {
    expect(variablesOf({ event: '$' }, { a: 1 })).toEqual({
      event: { id: EVENT_ID, source: 'mine', detail: { a: 1 } },
    });
    expect(variablesOf('$.detail', { a: 1 })).toEqual({ a: 1 });
    expect(faultsOf('$.detail.a', { a: 1 })).toEqual([
      'inputVariables: expected an object of input variables, got 1',
    ]);
  });
});

describe('a missing required field', () => {
  test.each([
    ['$.detail.file.size', { file: { key: 'secret', etag: 'x' } }, '$.detail.file has only "key", "etag"'],
    ['$.detail.file.size', { file: {} }, '$.detail.file is an empty object'],
    ['$.detail.file.size', { file: null }, '$.detail.file is null'],
    ['$.detail.file.size', { file: 'secret' }, '$.detail.file is text'],
    ['$.detail.file.size', { file: 5 }, '$.detail.file is a number'],
    ['$.detail.files[2]', { files: ['secret', 'b'] }, '$.detail.files is a list of 2'],
    ['$.detail.files.length', { files: ['secret', 'b'] }, '$.detail.files is a list of 2'],
    ['$.detail.files[0]', { files: { 0: 'secret' } }, '$.detail.files has only "0"'],
    ['$.detail.toString', {}, '$.detail is an empty object'],
    ['$.detail.__proto__', {}, '$.detail is an empty object'],
  ])('(%s) is refused with its rule, its path and what is there: %j', (path, detail, there) => {
    expect(faultsOf({ a: ['fixed', path] }, detail)).toEqual([
      `inputVariables.a.1: expected ${path} in the event of rule uploads, got nothing: ${there}`,
    ]);
  });

  test('is refused together with all other missing fields, and with the other faults of the message', () => {
    const parsed = parse({
      rule: 'uploads',
      functionName: '',
      inputVariables: { a: '$.detail.a', b: '$.detail.b', source: '$.source' },
      event: { id: EVENT_ID, source: 'mine', detail: {} },
    });

    expect(parsed).toEqual({
      kind: 'refused',
      id: `uploads.${EVENT_ID}`,
      faults: [
        'inputVariables.a: expected $.detail.a in the event of rule uploads, got nothing: $.detail is an empty object',
        'inputVariables.b: expected $.detail.b in the event of rule uploads, got nothing: $.detail is an empty object',
        'functionName: expected a name that is not empty, "." or "..", got ""',
      ],
    });
  });

  test('is listed at most 25 times', () => {
    const paths = Array.from({ length: 4_000 }, (_, index) => `$.detail.x${index}`);
    const detail = Object.fromEntries(paths.map((path) => [path, 0]));

    const faults = faultsOf({ paths }, detail);

    expect(faults).toHaveLength(26);
    expect(Math.max(...faults.map(({ length }) => length))).toBeLessThan(1_000);
    expect(faults.at(-1)).toBe('and 3975 more');
  });
});

describe('an optional field', () => {
  const optional = { size: { $path: '$.detail.size', $optional: true }, fixed: 1 };
  const withDefault = (value: unknown) => ({ size: { $path: '$.detail.size', $default: value } });

  test('is omitted, or replaced by its default, only if the event lacks it', () => {
    expect(variablesOf(optional, {})).toEqual({ fixed: 1 });
    expect(variablesOf(optional, { size: 0 })).toEqual({ size: 0, fixed: 1 });
    expect(variablesOf(optional, { size: null })).toEqual({ size: null, fixed: 1 });
    expect(variablesOf(withDefault(null), {})).toEqual({ size: null });
    expect(variablesOf(withDefault(['$.a', { $b: 1 }]), {})).toEqual({ size: ['$.a', { $b: 1 }] });
    expect(variablesOf(withDefault(9), { size: '' })).toEqual({ size: '' });
    expect(variablesOf(withDefault(9), { size: null })).toEqual({ size: null });
  });

  test('in a list needs a default', () => {
    const [fault, ...others] = faultsOf({ list: [{ $path: '$.detail.a', $optional: true }] }, { a: 1 });

    expect(fault).toMatch(/^inputVariables\.list\.0: expected a field with a `\$default`/);
    expect(others).toEqual([]);
    expect(variablesOf({ list: [{ $path: '$.detail.a', $default: 0 }, 1] }, {})).toEqual({ list: [0, 1] });
  });
});

describe('a constant', () => {
  test('may look like anything', () => {
    const constant = { a: '$.detail.a', $path: '$.x', b: ['$'], c: { $constant: '$5' } };

    expect(variablesOf({ x: { $constant: constant }, y: { path: '5 $' } }, {})).toEqual({
      x: constant,
      y: { path: '5 $' },
    });
  });

  test.each([
    [{ $path: '$.detail.a', default: 1 }],
    [{ $path: '$.detail.a', $optional: false }],
    [{ $path: '$.detail.a', $default: 1, $optional: true }],
    [{ $path: 'detail.a' }],
    [{ $constant: 1, other: 2 }],
    [{ $value: 1 }],
    ['$5'],
    ['$.detail.*'],
    ['$.detail..a'],
  ])('is never confused with a field: %j is refused', (value) => {
    expect(faultsOf({ x: value }, { a: 1 })).toEqual([
      expect.stringMatching(/^inputVariables\.x: expected /),
    ]);
  });
});

describe('the job of an event', () => {
  test('is named by the rule and the event, so each of two rules has its own', () => {
    const [one, other] = ['uploads', 'audits'].map((rule) => parseEvent({}, {}, rule));

    expect(one).toMatchObject({ kind: 'job', hasExplicitId: true, job: { id: `uploads.${EVENT_ID}` } });
    expect(other).toMatchObject({ kind: 'job', hasExplicitId: true, job: { id: `audits.${EVENT_ID}` } });
  });

  test('is the same, with the same content, when the event is delivered again, or by hand, or by a replay', () => {
    const variables = { size: '$.detail.size' };
    const first = parseEvent(variables, { size: 5 });
    const replayed = { id: EVENT_ID, 'replay-name': 'again', source: 'mine', detail: { size: 5 } };

    expect(parseEvent(variables, { size: 5 })).toEqual(first);
    expect(parse({ rule: 'uploads', inputVariables: variables, event: replayed })).toEqual(first);
    expect(parse({ id: `uploads.${EVENT_ID}`, inputVariables: { size: 5 } })).toEqual(first);
  });

  test('has other content if the event differs under the same id', () => {
    const [one, other] = [5, 6].map((size) => parseEvent({ size: '$.detail.size' }, { size }));

    expect(one).toHaveProperty('contentHash');
    expect(other).not.toHaveProperty('contentHash', Reflect.get(one ?? {}, 'contentHash'));
  });

  test('keeps an id that its message names, such as one that is sent again', () => {
    expect(parse({ id: 'mine', rule: 'uploads', event: { id: 'a b' } })).toMatchObject({
      job: { id: 'mine' },
    });
  });

  test('needs a rule, and an event with an id', () => {
    const faults = (message: object) => Reflect.get(parse(message), 'faults');

    expect(faults({ event: { id: EVENT_ID } })).toEqual([
      'rule: expected the name of an event rule: 1 to 64 characters from A-Z a-z 0-9 _ -, got nothing',
    ]);
    expect(faults({ rule: 'a.b', event: { id: EVENT_ID } })).toHaveLength(1);
    expect(faults({ rule: 'a', event: 'secret' })).toEqual(['event: expected an object, got a string']);
    expect(faults({ rule: 'a', event: {} })).toEqual([
      'event.id: expected 1 to 63 characters from A-Z a-z 0-9 _ -, got nothing',
    ]);
    expect(faults({ rule: 'a', event: { id: 'x'.repeat(64) } })).toHaveLength(1);
    expect(parse({ rule: 'r'.repeat(64), event: { id: 'x'.repeat(63) } }).kind).toBe('job');
  });
});

describe('a message that is too large', () => {
  test('as an event is refused', () => {
    expect(faultsOf({}, { text: 'x'.repeat(300_000) })).toEqual([
      expect.stringMatching(/^message: expected at most 262144 bytes of UTF-8, got 300\d{3}$/),
    ]);
  });

  // Printing the field once takes milliseconds.
  test('with its fields filled in is refused, however often a field is repeated', {
    timeout: 3_000,
  }, () => {
    const inputVariables = { many: Array.from({ length: 4_000 }, () => '$.detail.list') };

    expect(faultsOf(inputVariables, { list: Array.from({ length: 50_000 }, () => 1) })).toEqual([
      'inputVariables: expected at most 262144 bytes of fields of the event of rule uploads, got more',
    ]);
  });
});

describe('a message without an event', () => {
  test('is read literally: a string that begins with $ is that string, and so is an object', () => {
    const inputVariables = { a: '$.detail.a', b: { $path: 'x' }, c: '$5' };

    expect(parse({ inputVariables })).toMatchObject({
      hasExplicitId: false,
      job: { id: 'of-the-queue', inputVariables },
    });
  });

  test('has no rule', () => {
    expect(parse({ rule: 'uploads' })).toMatchObject({ faults: ['rule: not a known name'] });
  });

  test('may be of a type that takes no events', () => {
    expect(parse({ type: 'data-files', ids: ['1'], event: {} })).toMatchObject({
      faults: expect.arrayContaining(['event: not a known name']),
    });
  });
});
