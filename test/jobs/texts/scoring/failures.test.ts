import { expect, test } from 'vitest';
import {
  createFailures,
  createFailuresByRequest,
  isFaultOfText,
} from '../../../../lib/jobs/texts/scoring/scoring-session.ts';
import type { PlatformFailure } from '../../../../lib/platform/failure.ts';
import { lost, refusedText, unavailable } from '../fakes.ts';

const shape: PlatformFailure = { kind: 'shape', faults: ['sentiment: expected text, got none'] };
const tooLarge: PlatformFailure = { kind: 'too-large', maxBytes: 1_000 };
const status = (code: number): PlatformFailure => ({ kind: 'status', status: code });

/** The number of refused texts at which a request is stopped; undefined if it is never. */
function refusalsUntilStop(failures: ReturnType<typeof createFailures>, texts = 1_000): number | undefined {
  for (let count = 1; count <= texts; count += 1)
    if (failures.recordFailed(`text ${count}`, refusedText)) return count;
  return undefined;
}

test.each<[string, readonly PlatformFailure[], boolean]>([
  ['two refused tokens', [status(401), status(401)], false],
  ['three refused tokens', [status(401), status(401), status(401)], true],
  ['a platform in trouble, whatever it says', [unavailable, lost, status(500)], true],
  ['refusals of different kinds', [status(401), status(403), status(401)], false],
  ['nine refused texts', Array(9).fill(status(422)), false],
  ['ten, whose refusals differ', [...Array(9).fill(status(422)), status(409)], true],
  ['three responses of a wrong shape', [shape, shape, shape], true],
  ['a wrong shape and a response that is too large, by turns', [shape, tooLarge, shape], false],
])(
  'whether different texts that fail for the same reason stop all texts with the same settings: %s',
  (_, given, stops) => {
    const failures = createFailures();

    expect(given.map((each, at) => failures.recordFailed(`text ${at}`, each)).includes(true)).toBe(stops);
  },
);

test.each(['recordSucceeded', 'recordScored'] as const)(
  'once one text with these settings was scored (%s), a hundred refusals in a row stop the other texts; after that, ten do',
  (event) => {
    const failures = createFailures();
    failures[event]();

    expect([refusalsUntilStop(failures), refusalsUntilStop(failures)]).toEqual([100, 10]);
  },
);

test('a success ends a series of failures; a cached result does not, since it says nothing about now', () => {
  const [called, cached] = [createFailures(), createFailures()];
  for (const each of [called, cached]) expect(refusalsUntilStop(each, 9)).toBeUndefined();

  called.recordSucceeded();
  cached.recordScored();

  expect(refusalsUntilStop(called, 99)).toBeUndefined();
  for (let at = 0; at < 90; at += 1) cached.recordFailed(`other ${at}`, refusedText);
  expect(cached.recordFailed('the hundredth', refusedText)).toBe(true);
});

test('one text that fails repeatedly counts as one text', () => {
  const failures = createFailures();

  expect(Array.from({ length: 500 }, () => failures.recordFailed('n/a', refusedText))).not.toContain(true);
  expect(Array.from({ length: 500 }, () => failures.recordFailed('n/a', unavailable))).not.toContain(true);
});

test('failures are counted separately for different settings, and together for equal ones', () => {
  const failuresOf = createFailuresByRequest();
  failuresOf({ model: 'good', instructions: 'brief' }).recordSucceeded();

  expect(refusalsUntilStop(failuresOf({ instructions: 'brief', model: 'good' }))).toBe(100);
  expect(refusalsUntilStop(failuresOf({ model: 'wrong' }))).toBe(10);
});

test.each<[PlatformFailure, number, boolean]>([
  ...[400, 409, 422, 500, 503].map((code) => [status(code), 1, true] as const),
  ...[304, 401, 403, 404, 408, 425, 429, 499].map((code) => [status(code), 1, false] as const),
  [shape, 1, true],
  [tooLarge, 1, true],
  [{ kind: 'input', faults: ['text: expected text'] }, 0, true],
  [{ kind: 'input', faults: ['token: expected one'] }, 1, false],
  [lost, 1, false],
] as [PlatformFailure, number, boolean][])(
  'whether %j after %i attempts is the text’s own failure: %s',
  (failure, attempts, own) => {
    expect(isFaultOfText({ failure, attempts })).toBe(own);
  },
);
