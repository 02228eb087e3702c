import { expect, test } from 'vitest';
import type { Allow } from '../../../lib/jobs/allow.ts';
import { createLineCheck } from '../../../lib/jobs/message/job-lines.ts';

/** The messages of lines, and everything that is wrong with them. */
function checked(lines: readonly string[], allow: Allow = {}) {
  const check = createLineCheck(allow);
  const read = lines.map((text, index) => check.check({ line: index + 1, text }));
  return { messages: read.flatMap((each) => each?.text ?? []), faults: check.faults() };
}

const files = (id: string, more = '') => `{"version":1,"type":"data-files","id":"${id}","ids":[1${more}]}`;
const call =
  '{"version":1,"type":"run-function","packageId":"0f8fad5b-d9cb-469f-a165-70867728950e","packageVersion":"1","functionName":"f"}';

test('each line becomes a message of compact JSON with the digits of its ids; blank lines are skipped', () => {
  const lines = [
    '\uFEFF{ "version": 1, "type": "data-files", "ids": [12345678901234567890] }\r',
    '',
    '  ',
    '{"version":1,"type":"score","texts":[{"id":"a","text":"fine"}]}',
  ];

  expect(checked(lines)).toEqual({
    faults: [],
    messages: [
      '{"version":1,"type":"data-files","ids":[12345678901234567890]}',
      '{"version":1,"type":"score","texts":[{"id":"a","text":"fine"}]}',
    ],
  });
});

test('a line must fit into a message once its characters that SQS refuses are escaped', () => {
  const line = `{"version":1,"type":"score","texts":[{"id":"a","text":"${'\uFFFE'.repeat(60_000)}"}]}`;

  expect(checked([line])).toEqual({
    messages: [],
    faults: ['line 1: message: expected at most 262144 bytes of UTF-8, got 360059'],
  });
});

test('every fault of every line is reported at once, with the number of the line', () => {
  const lines = [
    files('a'),
    '',
    '{',
    '{"version":2,"type":"data-files","ids":[]}',
    files('a', ',2'),
    files('a'),
  ];

  expect(checked(lines, { types: ['data-files'] }).faults).toEqual([
    'line 3: message: expected JSON, got 1 characters that are not JSON, invalid at position 1 (line 1 column 2)',
    'line 4: version: expected 1, the version of the message format, got 2',
    'line 4: ids: expected a list of 1 to 100, got a list of 0',
    'line 5: id: expected an id that no other line has, got a, which line 1 has',
    'line 6: id: expected an id that no other line has, got a, which line 1 has',
  ]);
});

test('a job that is not allowed is a fault of its line', () => {
  expect(checked([call], { types: [] }).faults).toHaveLength(1);
});

test('of the formula updates A, B, A without ids each line is a job of its own', () => {
  const set = (expression: string) =>
    `{"version":1,"type":"update-formula","calculationId":"7","expression":"${expression}"}`;
  const lines = [set('A'), set('B'), set('A')];

  expect(checked(lines)).toEqual({ messages: lines, faults: [] });
});

test('lines without an id are the same job, except for writes, which the queue distinguishes', () => {
  const score = '{"version":1,"type":"score","texts":[{"id":"a","text":"fine"}]}';

  expect(checked([call, call])).toEqual({ messages: [call, call], faults: [] });
  expect(checked([score, ` ${score}`])).toMatchObject({
    faults: [expect.stringMatching(/^line 2: id: .* which line 1 has$/)],
  });
});
