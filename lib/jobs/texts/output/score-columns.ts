import type { ScoredRow } from '../batch/part.ts';

/** What is added to a row: a name, and its value in a score. */
export type ScoreColumn = { readonly name: string; readonly textIn: (score: ScoredRow) => string };

/** The columns that scores add to a CSV. A name that the rows have already gets a number: `sentiment_2`. */
export function scoreColumns(taken: readonly string[], topics: readonly string[]): readonly ScoreColumn[] {
  const names = new Set(taken);
  const column = (name: string, textIn: ScoreColumn['textIn']): ScoreColumn => {
    const free = freeName(name, names);
    names.add(free);
    return { name: free, textIn };
  };
  return [
    column('sentiment', ({ sentiment }) => textOf(sentiment)),
    ...topics.map((topic) => column(`sentiment_${topic}`, (score) => textOf(ofTopic(score, topic)))),
    column('model', ({ model }) => textOf(model)),
    column('error', errorOf),
  ];
}

/** The name, or one with a number that is not taken. */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  let free = name;
  for (let number = 2; taken.has(free); number += 1) free = `${name}_${number}`;
  return free;
}

const textOf = (value: unknown) =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);

const ofTopic = ({ topicSentiments }: ScoredRow, topic: string): unknown =>
  typeof topicSentiments === 'object' && topicSentiments !== null
    ? new Map<string, unknown>(Object.entries(topicSentiments)).get(topic)
    : undefined;

/** Why a row has no score, with the line that it is on; empty if it has one. */
export const errorOf = ({ line, error, erased }: ScoredRow): string =>
  error !== undefined ? `line ${line}: ${error}` : erased ? `line ${line}: forgotten` : '';
