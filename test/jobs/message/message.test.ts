import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { parseMessage } from '../../../lib/jobs/message/message.ts';
import { selectionOf } from '../../../lib/snapshot/sources/request.ts';

const PACKAGE = '0f8fad5b-d9cb-469f-a165-70867728950e';
const FILESET = '7C9E6679-7425-40de-944b-e07fc1f90ae7';

const parseText = (text: string, allow = {}) => parseMessage(text, { messageId: 'queue-1', allow });
const parse = (message: object, allow = {}) => parseText(JSON.stringify({ version: 1, ...message }), allow);
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

const call = { type: 'run-function', packageId: PACKAGE, packageVersion: '1.0.0', functionName: 'greet' };
const score = { type: 'score', texts: [{ id: 'a', text: 'fine' }] };

function faultsOf(message: object) {
  const parsed = parse(message);
  return parsed.kind === 'refused' ? parsed.faults : [];
}

describe('the id of a job', () => {
  test('is the id in the message', () => {
    expect(parse({ ...score, id: 'my:id_1.x-Y' })).toMatchObject({ kind: 'job', job: { id: 'my:id_1.x-Y' } });
  });

  test('is the id of the queue’s message if a run-function message has none', () => {
    expect(parse(call)).toMatchObject({ job: { id: 'queue-1', onUnknown: 'fail' } });
  });

  test('is the hash of the canonical message for all other job types', () => {
    const canonical = '{"texts":[{"id":"a","text":"fine"}],"type":"score","version":1}';

    expect(parse(score)).toMatchObject({ contentHash: sha256(canonical), job: { id: sha256(canonical) } });
  });

  test('does not affect the hash of the content, and neither does the order of names', () => {
    const one = parseText('{"version":1,"id":"a","type":"data-files","ids":[1]}');
    const other = parseText('{"ids":[1.0],"type":"data-files","version":1,"id":"b"}');

    expect(one).toHaveProperty('contentHash', sha256('{"ids":[1],"type":"data-files","version":1}'));
    expect(other).toHaveProperty('contentHash', sha256('{"ids":[1],"type":"data-files","version":1}'));
  });

  test.each(['', 'a b', 'a/b', 'ä', 'x'.repeat(129), 5])('cannot be %j', (id) => {
    const parsed = parse({ ...score, id });

    expect(parsed).toMatchObject({ faults: [expect.stringMatching(/^id: expected /)] });
    expect(parsed).not.toHaveProperty('id');
  });
});

describe('a refused message', () => {
  test('names all faults together, and its id', () => {
    const parsed = parse({
      type: 'update-formula',
      id: 'job-1',
      version: 2,
      calculationId: 1.5,
      unlessChangedSince: -1,
      stric: true,
    });

    expect(parsed).toEqual({
      kind: 'refused',
      id: 'job-1',
      faults: [
        'version: expected 1, the version of the message format, got 2',
        'calculationId: expected an integer of at most 64 digits (as text or a bigint beyond 2^53), got 1.5',
        'expression: expected text, got nothing',
        'unlessChangedSince: expected a whole number from 0 to 9007199254740991, got -1',
        'stric: not a known name',
        'name: expected a value, since unlessChangedSince is given, got nothing',
      ],
    });
  });

  test.each([
    ['{"a": I hate it}', 'message: expected JSON, got 16 characters that are invalid at column 7'],
    ['{"a": "as it is", "b": !}', 'message: expected JSON, got 25 characters that are invalid at column 24'],
    ['"I hate it"', 'message: expected an object, got text'],
    ['[]', 'message: expected an object, got a list of 0'],
    ['null', 'message: expected an object, got null'],
    ['['.repeat(101), 'message: expected at most 100 levels of nested lists and objects, got more'],
    [`"${'x'.repeat(262_143)}"`, 'message: expected at most 262144 bytes of UTF-8, got 262145'],
  ])('may contain %.40s', (text, fault) => {
    expect(parseText(text)).toEqual({ kind: 'refused', faults: [fault] });
  });

  test('does not count brackets within strings as nesting', () => {
    expect(parse({ ...score, texts: [{ id: 'a', text: '"\\['.repeat(1_000) }] }).kind).toBe('job');
  });

  test.each([undefined, 'scores', 5, 'toString'])('may be of type %j', (type) => {
    expect(faultsOf({ type })).toEqual([
      expect.stringMatching(/^type: expected one of run-function, score, /),
    ]);
  });
});

describe('a run-function message', () => {
  test('has input, settings, and what to do if the outcome is unknown', () => {
    const more = {
      inputVariables: { a: [1, null] },
      settings: { getLogs: true, more: 1 },
      onUnknown: 'retry',
    };

    expect(parse({ ...call, ...more, id: 'x' })).toMatchObject({ job: { ...call, ...more, id: 'x' } });
  });

  test('is refused with invalid paths', () => {
    expect(faultsOf({ ...call, packageId: 'x', packageVersion: '..', functionName: '' })).toHaveLength(3);
    expect(faultsOf({ ...call, packageVersion: '\ud800', functionName: 'f\udfff' })).toEqual([
      'packageVersion: expected well-formed Unicode, got "\\ud800"',
      'functionName: expected well-formed Unicode, got "f\\udfff"',
    ]);
    expect(faultsOf({ type: 'snapshot', source: 'cards', datasets: ['\ud800'] })).toEqual([
      'datasets.0: expected a UUID (8-4-4-4-12 hex digits), got "\\ud800"',
    ]);
    expect(faultsOf({ type: 'score', texts: [{ id: 'a', text: 'a cut emoji: \ud83d' }] })).toEqual([]);
  });
});

describe('a score message', () => {
  test('never shows a text in a fault', () => {
    const texts = [{ id: 'a', texts: 'I hate it' }, 'I hate it', { id: 'b', text: 'I hate it', lang: 5 }];
    const faults = [...faultsOf({ ...score, texts }), ...faultsOf({ ...score, texts: 'I hate it' })];

    expect(faults).toEqual([
      'texts.0.text: expected text, got nothing',
      'texts.0.texts: not a known name',
      'texts.1: expected an object with id and text, got "9 characters, not shown"',
      'texts.2.lang: not a known name',
      'texts: expected a list of texts, got "9 characters, not shown"',
    ]);
  });

  test('has 1 to 100 texts, none of them empty, with different ids', () => {
    const many = Array.from({ length: 101 }, (_, index) => ({ id: `${index % 100}`, text: ' ' }));

    expect(faultsOf({ ...score, texts: [] })).toEqual(['texts: expected 1 to 100 texts, got a list of 0']);
    expect(faultsOf({ ...score, texts: many })).toEqual([
      'texts: expected 1 to 100 texts, got a list of 101',
      'texts: expected texts with different ids, got a list of 101',
      ...many.slice(0, 48).map((_, at) => `texts.${at}.text: expected text that is not empty, got " "`),
      'and 53 more',
    ]);
  });

  test('has up to 200 KB of texts, counted in bytes of UTF-8', () => {
    const half = 'é'.repeat(51_200);
    const fault = 'texts: expected texts of at most 204800 bytes of UTF-8 in total, got a list of 2';
    const faultsWith = (second: string) =>
      faultsOf({ ...score, texts: [half, second].map((text, at) => ({ id: `${at}`, text })) });

    expect(faultsWith(half)).toEqual([]);
    expect(faultsWith(`${half}.`)).toEqual([fault]);
  });

  test('is refused if its topics or settings break the rules of the platform', () => {
    const topics = [{ topic: '1st', description: 'x'.repeat(501) }, { topic: 'a' }];

    expect(
      faultsOf({ ...score, topics, model: '', sessionId: 'x', instructions: 5, modelConfiguration: [] }),
    ).toEqual([
      expect.stringMatching(/^topics\.0\.topic: expected a topic name: .*, got "1st"$/),
      expect.stringMatching(/^topics\.0\.description: expected at most 500 characters, got "x+…$/),
      'instructions: expected text, got 5',
      'model: expected text that is not empty, got ""',
      'modelConfiguration: expected an object, got a list of 0',
      'sessionId: expected a UUID (8-4-4-4-12 hex digits), got "x"',
    ]);
    expect(faultsOf({ ...score, topics: [{ topic: 'a' }, { topic: 'a' }] })).toEqual([
      'topics: expected topics with different names, got a list of 2',
    ]);
  });

  test('has `batch` and `chunk` only together, and a batch name that cannot lead to another folder', () => {
    expect(faultsOf({ ...score, batch: 'b', chunk: 0 })).toEqual([]);
    expect(faultsOf({ ...score, batch: 'b' })).toEqual([
      'chunk: expected a value, since batch is given, got nothing',
    ]);
    expect(faultsOf({ ...score, chunk: 1 })).toEqual([
      'batch: expected a value, since chunk is given, got nothing',
    ]);
    expect(faultsOf({ ...score, batch: '..', chunk: 0 })).toHaveLength(1);
  });
});

describe('an update-formula message', () => {
  test('keeps the digits of ids beyond 2^53', () => {
    const text =
      '{"version":1,"type":"update-formula","calculationId":12345678901234567891,"expression":"1"}';

    expect(parseText(text)).toMatchObject({ job: { calculationId: '12345678901234567891' } });
    expect(parse({ type: 'update-formula', calculationId: '007', expression: '1' })).toMatchObject({
      job: { calculationId: '7' },
    });
  });

  test('has `unlessChangedSince` and `name` only together', () => {
    const update = { type: 'update-formula', calculationId: 1, expression: '1' };

    expect(faultsOf({ ...update, unlessChangedSince: 0, name: 'n' })).toEqual([]);
    expect(faultsOf({ ...update, name: 'n' })).toEqual([
      'unlessChangedSince: expected a value, since name is given, got nothing',
    ]);
    expect(faultsOf({ ...update, unlessChangedSince: 0 })).toHaveLength(1);
  });
});

describe('a data-files message', () => {
  test('accepts ids as numbers or as strings of digits, and `expand` as a list or a string', () => {
    const files = { type: 'data-files', ids: [1, '2'] };

    expect(parse({ ...files, expand: 'metadata, revisions' })).toMatchObject({
      job: { ids: ['1', '2'], expand: ['revisions', 'metadata'] },
    });
    expect(parse({ ...files, expand: ['metadata'] })).toMatchObject({ job: { expand: ['metadata'] } });
    expect(faultsOf({ ...files, expand: 'metadata, all' })).toHaveLength(1);
  });

  test('has 1 to 100 ids, each once', () => {
    const ids = Array.from({ length: 101 }, (_, index) => index);

    expect(faultsOf({ type: 'data-files', ids })).toEqual([
      'ids: expected a list of 1 to 100, got a list of 101',
    ]);
    expect(faultsOf({ type: 'data-files', ids: [] })).toHaveLength(1);
    expect(faultsOf({ type: 'data-files', ids: [1, '01'] })).toEqual([
      'ids: expected a list without duplicates, got a list of 2',
    ]);
  });
});

describe('a snapshot message', () => {
  const selectedBy = (message: object) => {
    const parsed = parse({ type: 'snapshot', ...message });
    if (parsed.kind === 'refused' || parsed.job.type !== 'snapshot') throw new Error(JSON.stringify(parsed));
    return selectionOf(parsed.job);
  };

  test('selects records by the same fields as the command `snapshot`', () => {
    expect(selectedBy({ source: 'calculations' })).toEqual({ selection: {} });
    expect(selectedBy({ source: 'calculations', filters: ['locked'], as: 'x', accept: ['shrunk'] })).toEqual({
      selection: { filters: ['locked'] },
    });
    expect(selectedBy({ source: 'cards' })).toEqual({ selection: { drill: true }, ids: undefined });
    expect(selectedBy({ source: 'cards', datasets: [PACKAGE], drill: false })).toMatchObject({
      ids: [PACKAGE],
    });
    expect(selectedBy({ source: 'data-files', ids: [5] })).toEqual({ selection: {}, ids: ['5'] });
  });

  test.each([
    [{ source: 'all' }, /^source: expected one of calculations, files, cards, data-files, got "all"/],
    [{ source: 'calculations', name: 'x' }, /^as: expected its own place/],
    [{ source: 'calculations', as: 'a.b' }, /^as: expected 1 to 64/],
    [{ source: 'calculations', accept: ['all'] }, /^accept\.0: expected one of empty, /],
    [{ source: 'calculations', filesets: [FILESET] }, /^filesets: not a known name/],
    [{ source: 'files', filesets: [] }, /^filesets: expected a list of 1 to 1000/],
    [{ source: 'files', filesets: [FILESET], immediate: true }, /^directory: expected a directory/],
    [{ source: 'data-files', ids: ['x'] }, /^ids\.0: expected an integer/],
  ])('is refused with %j', (message, fault) => {
    expect(faultsOf({ type: 'snapshot', ...message })).toEqual([expect.stringMatching(fault)]);
  });
});

describe('`notBefore` and `priority`', () => {
  const message = { version: 1, type: 'data-files', ids: ['1'] };
  const parse = (fields: object) =>
    parseMessage(JSON.stringify({ ...message, ...fields }), { messageId: 'm-1', allow: {} });

  test('are accepted in messages of every type, and do not change the id of a job', () => {
    const plain = parse({});
    const later = parse({ notBefore: '2026-12-24T18:00:00+01:00', priority: 'high' });

    expect(later).toMatchObject({
      kind: 'job',
      job: { notBefore: '2026-12-24T17:00:00.000Z', priority: 'high' },
    });
    expect(later).toHaveProperty('contentHash', plain.kind === 'job' ? plain.contentHash : '');
    expect(later).toHaveProperty('job.id', plain.kind === 'job' ? plain.job.id : '');
  });

  test.for([
    { notBefore: '2026-12-24T18:00:00' },
    { notBefore: '2026-02-30' },
    { notBefore: 1_795_276_800_000 },
    { notBefore: '' },
    { priority: 'low' },
    { priority: 1 },
  ])('are refused if they are wrong: %j', (fields) => {
    const [name = ''] = Object.keys(fields);

    expect(parse(fields)).toMatchObject({
      kind: 'refused',
      faults: [expect.stringContaining(`${name}: expected `)],
    });
  });
});
