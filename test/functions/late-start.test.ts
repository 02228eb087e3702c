import { expect, test } from 'vitest';
import { reportLateStart } from '../../functions/late-start.ts';

/** The delays that are reported for an event. */
function reported(event: unknown): readonly unknown[] {
  const lines: string[] = [];
  reportLateStart(event, { SYNC_STACK: 'acme' }, (line) => lines.push(line));
  return lines.map((line) => JSON.parse(line));
}

test('a start that Lambda delayed is reported as a problem, with the delay in seconds', () => {
  const scheduledAt = new Date(Date.now() - 1_000_000).toISOString();

  expect(reported({ scheduledAt })).toMatchObject([
    { msg: 'problem', service: 'acme', problem: 'FunctionThrottles', value: 1_000 },
  ]);
});

test('a start on time is not reported as late, and neither is a manual start', () => {
  expect(reported({ scheduledAt: new Date(Date.now() - 10_000).toISOString() })).toEqual([]);
  expect(reported({ expected: [] })).toEqual([]);
  expect(reported(undefined)).toEqual([]);
});
