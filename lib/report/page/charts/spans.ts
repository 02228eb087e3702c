import type { BatchFacts, Sentiments } from '../../facts.ts';

/**
 * A bar stands for a day; for more than `MAX_DAYS` days, for a week; for more than `MAX_WEEK_DAYS` days, for a month.
 */
const MAX_DAYS = 92;
const MAX_WEEK_DAYS = 730;
const DAY_MS = 86_400_000;

/** The days, or their sums by week (from Monday on) or month. A week is named by its Monday, a month `2026-11`. */
export function spansOf(days: readonly NonNullable<BatchFacts['overTime']>['days'][number][]): {
  readonly by: 'day' | 'week' | 'month';
  readonly spans: readonly NonNullable<BatchFacts['overTime']>['days'][number][];
} {
  const daysSpanned = (Date.parse(days.at(-1)?.day ?? '') - Date.parse(days[0]?.day ?? '')) / DAY_MS;
  if (!(daysSpanned > MAX_DAYS)) return { by: 'day', spans: days };
  const by = daysSpanned > MAX_WEEK_DAYS ? 'month' : 'week';
  const first = by === 'month' ? (day: string) => day.slice(0, 7) : mondayOf;
  const sums = new Map<string, Sentiments>();
  for (const { day, sentiments } of days) sums.set(first(day), added(sums.get(first(day)), sentiments));
  return { by, spans: [...sums].map(([day, sentiments]) => ({ day, sentiments })) };
}

/** The last item of each day or, for more than `MAX_DAYS` days, of each week. The week is named by its Monday. */
export function lastBySpan<D extends { readonly day: string }>(days: readonly D[]) {
  const isShort = days.length <= MAX_DAYS;
  const lasts = new Map(days.map((each) => [isShort ? each.day : mondayOf(each.day), each]));
  return { by: isShort ? ('day' as const) : ('week' as const), lasts };
}

function mondayOf(day: string): string {
  const date = new Date(day);
  date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7));
  return date.toISOString().slice(0, 10);
}

const added = (sum: Sentiments | undefined, more: Sentiments): Sentiments =>
  sum === undefined
    ? more
    : {
        positive: sum.positive + more.positive,
        negative: sum.negative + more.negative,
        neutral: sum.neutral + more.neutral,
        not_applicable: sum.not_applicable + more.not_applicable,
        other: sum.other + more.other,
      };
