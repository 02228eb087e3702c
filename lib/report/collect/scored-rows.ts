import type { BatchFacts, Sentiments } from '../facts.ts';
import { createLargest } from './listed.ts';
import { idIn, type Members, membersOf, shownText, textIn, timeIn } from './values.ts';

const MOST_NAMED = 100;

/** What the rows of a batch say beyond its summary. */
export function createScoredRows() {
  const negative = createLargest<BatchFacts['mostNegative'][number]>(MOST_NAMED);
  const failures: BatchFacts['failures'][number][] = [];
  const days = createDays();
  return {
    add(row: Members) {
      const id = shownText(idIn(row['id']) ?? `line ${idIn(row['line']) ?? '?'}`);
      const error = textIn(row['error']);
      if (error !== undefined && failures.length < MOST_NAMED)
        failures.push({ id, reason: shownText(error) });
      const sentiments = sentimentsIn(row);
      days.add(row, Object.values(sentiments));
      const topics = Object.keys(sentiments).filter((topic) => sentiments[topic] === 'negative');
      if (topics.length > 0 && negative.mayAdd(topics.length)) {
        const shown = topics.slice(0, MOST_NAMED).map((topic) => shownText(topic));
        negative.add(topics.length, { id, topics: shown });
      }
    },
    facts: (): Pick<BatchFacts, 'overTime' | 'mostNegative' | 'failures'> => ({
      overTime: days.facts(),
      mostNegative: negative.values(),
      failures,
    }),
  };
}

/** The sentiments of a row by topic; that of the text as a whole, if it has no topics, by ''. */
function sentimentsIn({ topicSentiments, sentiment }: Members): Readonly<Record<string, Name>> {
  const named = Object.entries(membersOf(topicSentiments)).filter(([, value]) => textIn(value) !== undefined);
  const all = named.length > 0 || textIn(sentiment) === undefined ? named : [['', sentiment] as const];
  return Object.fromEntries(all.map(([topic, value]) => [topic, sentimentName(String(value))]));
}

const MOST_COLUMNS = 50;
const MOST_DAYS = 4_000;
/** The share of rows whose cell must be a date. */
const SHARE = 0.9;

type Column = { dates: number; readonly days: Map<string, SentimentCounts> };

/** Counts sentiments by day, for each column that may hold dates. */
function createDays() {
  const columns = new Map<string, Column>();
  let rows = 0;
  const addTo = (name: string, cell: unknown, sentiments: readonly Name[]) => {
    const day = typeof cell === 'string' ? dayIn(cell) : undefined;
    const column = columns.get(name) ?? { dates: 0, days: new Map() };
    if (day === undefined || (column.dates === 0 && columns.size >= MOST_COLUMNS)) return;
    columns.set(name, column);
    column.dates += 1;
    const counts = column.days.get(day) ?? noSentiments();
    if (column.days.size < MOST_DAYS) column.days.set(day, counts);
    for (const sentiment of sentiments) counts[sentiment] += 1;
  };
  return {
    add({ columns: cells }: Members, sentiments: readonly Name[]) {
      rows += 1;
      for (const [name, cell] of Object.entries(membersOf(cells))) addTo(name, cell, sentiments);
    },
    facts(): BatchFacts['overTime'] {
      const [best] = [...columns].toSorted(([, a], [, b]) => b.dates - a.dates);
      if (best === undefined || best[1].dates < SHARE * rows) return undefined;
      const days = [...best[1].days].toSorted(([a], [b]) => (a < b ? -1 : 1));
      return { column: shownText(best[0]), days: days.map(([day, sentiments]) => ({ day, sentiments })) };
    },
  };
}

type Name = keyof Sentiments;

export type SentimentCounts = { -readonly [N in Name]: number };

export const noSentiments = (): SentimentCounts => ({
  positive: 0,
  negative: 0,
  neutral: 0,
  not_applicable: 0,
  other: 0,
});

/** The name that a sentiment is counted under. */
export function sentimentName(sentiment: string): Name {
  const name = sentiment.toLowerCase();
  return name === 'positive' || name === 'negative' || name === 'neutral' || name === 'not_applicable'
    ? name
    : 'other';
}

const DOTTED = /^(\d{1,2})\.(\d{1,2})\.(\d{4})\b/;
const SLASHED = /^(\d{4})\/(\d\d)\/(\d\d)\b/;

/**
 * The day that a cell of a table holds, `2026-11-22`; undefined if it holds none. Day and month of `11/12/2026` cannot be
 * told apart, and a number may be anything, but for one that is the milliseconds of these decades.
 */
export function dayIn(cell: string): string | undefined {
  const text = cell.trim();
  if (text.length < 8 || text.length > 64) return undefined;
  if (/^\d+$/.test(text)) return /^1[0-9]\d{11}$/.test(text) ? dayOf(Number(text)) : undefined;
  const [, day = '', month = '', year] = DOTTED.exec(text) ?? [];
  if (year !== undefined) return dayOf(timeIn(`${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`));
  const slashed = SLASHED.exec(text);
  return dayOf(timeIn(slashed === null ? text : `${slashed[1]}-${slashed[2]}-${slashed[3]}`));
}

const dayOf = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString().slice(0, 10);
