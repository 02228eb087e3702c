import { describe, expect, test } from 'vitest';
import { countCalls, type PlatformEvent, tellAll } from '../../lib/platform/events.ts';
import { calculations } from './answers.ts';
import { answered, fakeCall, status } from './fake-call.ts';

describe('observers', () => {
  test('count what happens', async () => {
    const { observe, counts } = countCalls();
    const { platform } = fakeCall([status(429, 7_000), status(503), answered(calculations())], {
      observe,
      turns: [40.4, 0, 10],
    });

    await platform.calculations.search({ sort: { field: 'id', ascending: true } });

    expect(counts()).toEqual({ requests: 3, retries: 2, throttled: 1, waitedMs: 50 });
  });

  test('are told in turn, also after one that throws', () => {
    const told: string[] = [];
    const observe = tellAll([
      () => told.push('first'),
      () => {
        throw new Error('a faulty observer');
      },
      () => told.push('last'),
    ]);
    const event: PlatformEvent = { kind: 'waited', operation: 'listCards', attempt: 1, waitedMs: 5 };

    observe(event);

    expect(told).toEqual(['first', 'last']);
  });
});
