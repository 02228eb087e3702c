import { describe, expect, test } from 'vitest';
import { countCalls, notifyAll, type PlatformEvent } from '../../lib/platform/events.ts';
import { fakeCall, ok, status } from './fake-call.ts';
import { calculations } from './sample-records.ts';

describe('observers', () => {
  test('count requests and their outcomes', async () => {
    const { observe, counts } = countCalls();
    const { platform } = fakeCall([status(429, 7_000), status(503), ok(calculations())], {
      observe,
      turns: [40.4, 0, 10],
    });

    await platform.calculations.search({ sort: { field: 'id', ascending: true } });

    expect(counts()).toEqual({ requests: 3, retries: 2, throttled: 1, waitedMs: 50 });
  });

  test('are notified in turn, even after an observer that throws', () => {
    const notified: string[] = [];
    const observe = notifyAll([
      () => notified.push('first'),
      () => {
        throw new Error('a faulty observer');
      },
      () => notified.push('last'),
    ]);
    const event: PlatformEvent = { kind: 'waited', operation: 'listCards', attempt: 1, waitedMs: 5 };

    observe(event);

    expect(notified).toEqual(['first', 'last']);
  });
});
