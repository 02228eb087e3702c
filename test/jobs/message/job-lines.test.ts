import { expect, test } from 'vitest';
import { checkJobLines, linesIn } from '../../../lib/jobs/message/job-lines.ts';

const linesOf = (...lines: readonly string[]) => linesIn(lines.join('\n'));

const files = (id: string, more = '') => `{"version":1,"type":"data-files","id":"${id}","ids":[1${more}]}`;
const call =
  '{"version":1,"type":"run-function","packageId":"0f8fad5b-d9cb-469f-a165-70867728950e","packageVersion":"1","functionName":"f"}';

test('each line becomes a message of compact JSON with the digits of its ids; blank lines are skipped', async () => {
  const lines = linesOf(
    '\uFEFF{ "version": 1, "type": "data-files", "ids": [12345678901234567890] }\r',
    '',
    '  ',
    '{"version":1,"type":"score","texts":[{"id":"a","text":"fine"}]}',
  );

  expect(await checkJobLines(lines, {})).toEqual({
    kind: 'messages',
    messages: [
      '{"version":1,"type":"data-files","ids":[12345678901234567890]}',
      '{"version":1,"type":"score","texts":[{"id":"a","text":"fine"}]}',
    ],
  });
});

test('a line must fit into a message once its characters that SQS refuses are escaped', async () => {
  const line = `{"version":1,"type":"score","texts":[{"id":"a","text":"${'\uFFFE'.repeat(60_000)}"}]}`;

  expect(await checkJobLines(linesOf(line), {})).toEqual({
    kind: 'faults',
    faults: ['line 1: message: expected at most 262144 bytes of UTF-8, got 360059'],
  });
});

test('every fault of every line is reported at once, with the number of the line', async () => {
  const lines = linesOf(
    files('a'),
    '',
    '{',
    '{"version":2,"type":"data-files","ids":[]}',
    files('a', ',2'),
    files('a'),
  );

  expect(await checkJobLines(lines, { types: ['data-files'] })).toEqual({
    kind: 'faults',
    faults: [
      'line 3: message: expected JSON, got 1 characters that are not JSON, invalid at position 1 (line 1 column 2)',
      'line 4: version: expected 1, the version of the message format, got 2',
      'line 4: ids: expected a list of 1 to 100, got a list of 0',
      'line 5: id: expected an id that no other line has, got a, which line 1 has',
      'line 6: id: expected an id that no other line has, got a, which line 1 has',
    ],
  });
});

test('a job that is not allowed is a fault of its line', async () => {
  expect(await checkJobLines(linesOf(call), { types: [] })).toMatchObject({ kind: 'faults' });
});

test('of the formula updates A, B, A without ids each line is a job of its own', async () => {
  const set = (expression: string) =>
    `{"version":1,"type":"update-formula","calculationId":"7","expression":"${expression}"}`;
  const lines = [set('A'), set('B'), set('A')];

  expect(await checkJobLines(linesOf(...lines), {})).toEqual({ kind: 'messages', messages: lines });
});

test('lines without an id are the same job, except for writes, which the queue distinguishes', async () => {
  const score = '{"version":1,"type":"score","texts":[{"id":"a","text":"fine"}]}';

  expect(await checkJobLines(linesOf(call, call), {})).toEqual({ kind: 'messages', messages: [call, call] });
  expect(await checkJobLines(linesOf(score, ` ${score}`), {})).toMatchObject({
    faults: [expect.stringMatching(/^line 2: id: .* which line 1 has$/)],
  });
});
