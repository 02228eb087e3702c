import { describe, expect, test } from 'vitest';
import {
  type Alike,
  afterFailedText,
  isOfText,
  mustStop,
  noneAlike,
  waitsHere,
} from '../../../../lib/jobs/texts/scoring/stopping.ts';
import type { PlatformFailure } from '../../../../lib/platform/failure.ts';
import { lost, unavailable } from '../fakes.ts';

const shape: PlatformFailure = { kind: 'shape', faults: ['sentiment: expected text, got none'] };
const tooLarge: PlatformFailure = { kind: 'too-large', maxBytes: 1_000 };

const status = (code: number): PlatformFailure => ({ kind: 'status', status: code });

const alikeAfter = (failures: readonly PlatformFailure[]): Alike =>
  failures.reduce(afterFailedText, noneAlike);

describe('different texts that fail alike stop a run', () => {
  test.each<[string, readonly PlatformFailure[], boolean]>([
    ['two refused tokens', [status(401), status(401)], false],
    ['three refused tokens', [status(401), status(401), status(401)], true],
    ['a platform in trouble, whatever it says', [unavailable, lost, status(500)], true],
    ['refusals of different kinds', [status(401), status(403), status(401)], false],
    ['a chunk of refused texts, which are counted over all chunks', Array(100).fill(status(422)), false],
    ['three responses of a wrong shape', [shape, shape, shape], true],
    ['a wrong shape and a response that is too large, by turns', [shape, tooLarge, shape], false],
  ])('%s', (_, failures, stops) => {
    const last = failures.at(-1) ?? lost;

    expect(mustStop(alikeAfter(failures), last)).toBe(stops);
  });
});

test.each([
  [304, false],
  [400, true],
  [401, false],
  [403, false],
  [404, false],
  [408, false],
  [409, true],
  [422, true],
  [429, false],
  [500, true],
  [503, true],
])('a status %i is the text’s own: %s', (code, own) => {
  expect(isOfText({ failure: status(code), attempts: 1 })).toBe(own);
});

test('a response that is wrong or too large is its own', () => {
  expect(isOfText({ failure: shape, attempts: 1 })).toBe(true);
  expect(isOfText({ failure: tooLarge, attempts: 1 })).toBe(true);
});

test('an invalid text is its own, an invalid token is not', () => {
  const failure: PlatformFailure = { kind: 'input', faults: ['text: expected text'] };

  expect([isOfText({ failure, attempts: 0 }), isOfText({ failure, attempts: 1 })]).toEqual([true, false]);
});

test.each([
  ['its calls leave', {}, true],
  ['none has left', { hasProgressed: false }, false],
  ['the wait ends after the deadline', { deadlineMs: 40_000 }, false],
  ['the wait is long', { waitMs: 200_000 }, false],
  ['the wait is two minutes', { waitMs: 120_000 }, true],
])('whether a chunk sits out a wait if %s', (_, differs, waits) => {
  const facts = { waitMs: 40_000, nowMs: 0, deadlineMs: undefined, hasProgressed: true };

  expect(waitsHere({ ...facts, ...differs })).toBe(waits);
});
