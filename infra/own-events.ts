import { matchesPattern } from './event-pattern/match-event.ts';
import type { EventPattern } from './event-pattern/pattern.ts';

/** What an event of a job that has ended says, where it is known before there is one. */
const endOf = (status: string): string =>
  JSON.stringify({
    version: '0',
    source: 'platform-sync',
    'detail-type': 'JobFinished',
    detail: { type: 'run-function', status },
  });

/** Fields of that event whose values are not known: any test of them may match. */
const UNKNOWN: ReadonlySet<string> = new Set([
  ...['id', 'account', 'region', 'time'],
  ...['detail.id', 'detail.result', 'detail.store'],
]);

/** Whether a rule with this pattern may run a function each time that a function which it ran has ended, for ever. */
export function feedsItself({ alternatives }: EventPattern): boolean {
  const known = {
    alternatives: alternatives.map((fields) => fields.filter(({ path }) => !UNKNOWN.has(path))),
  };
  return ['done', 'failed', 'unknown'].some((status) => matchesPattern(known, endOf(status)));
}
