import { describe, expect, test } from 'vitest';
import { createCreationTime } from '../../../../lib/snapshot/sources/calculations/creation-time.ts';

const timeOf = (sentCreated: unknown) => createCreationTime()({ key: '17', sentCreated });

describe('the time of creation', () => {
  test.each([[1_700_000_000_000], [0], [-1.5]])('%d is epoch milliseconds', (created) => {
    expect(timeOf(created)).toBe(created);
  });

  test.each([
    ['2026-11-22T10:00:00Z', '2026-11-22T10:00:00.000Z'],
    ['2026-11-22T10:00:00', '2026-11-22T10:00:00.000Z'],
    ['2026-11-22 10:00', '2026-11-22T10:00:00.000Z'],
    ['2026-11-22T10:00:07.123456', '2026-11-22T10:00:07.123Z'],
    ['2026-11-22T10:00:07.1+02:00', '2026-11-22T08:00:07.100Z'],
    ['2026-11-22T10:00-0130', '2026-11-22T11:30:00.000Z'],
  ])('%s is %s', (created, iso) => {
    expect(new Date(timeOf(created)).toISOString()).toBe(iso);
  });

  test.each([
    ['', 'other text'],
    ['2026-11-22', 'other text'],
    ['on 2026-11-22T10:00:00Z', 'other text'],
    ['2026-11-22T10:00:00Z or so', 'other text'],
    ['22026-11-22T10:00:00Z', 'other text'],
    ['2026-11-22T10:00:00.Z', 'other text'],
    ['2026-11-22T10:00:00+2', 'other text'],
    ['2026-13-45T10:00:00Z', 'other text'],
    [Number.POSITIVE_INFINITY, 'number'],
    [10n, 'bigint'],
    [true, 'boolean'],
    [{}, 'object'],
    [null, 'null'],
    [undefined, 'nothing'],
  ])('%s is none', (created, got) => {
    expect(() => timeOf(created)).toThrow(
      `record 17: expected created as epoch milliseconds or ISO text, got ${got}`,
    );
  });

  test('of all records has the same form', () => {
    const millis = createCreationTime();
    const text = createCreationTime();
    millis({ key: '1', sentCreated: 5 });
    text({ key: '1', sentCreated: '2026-11-22T10:00Z' });

    expect(millis({ key: '2', sentCreated: 6 })).toBe(6);
    expect(() => millis({ key: '3', sentCreated: '2026-11-22T10:00Z' })).toThrow(
      'record 3: expected created as epoch milliseconds, as before, got ISO text',
    );
    expect(() => text({ key: '3', sentCreated: 5 })).toThrow(
      'record 3: expected created as ISO text, as before, got epoch milliseconds',
    );
  });
});
