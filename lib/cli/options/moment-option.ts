import { InvalidArgumentError } from 'commander';
import { utcTime } from '../../base/index.ts';

const UNIT_MS = { h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** What `momentOption` expects. */
const EXPECTED = 'a time ago such as 12h, 7d or 4w, or a date such as 2026-11-21 or 2026-11-21T09:15:00Z';

/** An option's value as a moment of the past, in epoch milliseconds: so long ago, or a date (its start in UTC) or time. */
export const momentOption =
  (now: () => number = () => Date.now()) =>
  (text: string): number => {
    const [, count, unit] = /^(\d{1,6})([hdw])$/.exec(text) ?? [];
    const nowMs = now();
    const momentMs =
      unit === undefined
        ? Date.parse(utcTime.safeParse(text).data ?? '')
        : nowMs - Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
    if (Number.isNaN(momentMs))
      throw new InvalidArgumentError(`Expected ${EXPECTED}, got ${JSON.stringify(text)}.`);
    if (momentMs > nowMs)
      throw new InvalidArgumentError(`Expected a time that has passed, got ${JSON.stringify(text)}.`);
    return momentMs;
  };
