import { type Column, number, stored, storedWord, type TableDefinition, text, word } from '../../columns.ts';
import { batchCounts, outcomes } from '../../model/rules/index.ts';

/** Other names that users may try for the counts. */
const guesses: Readonly<Record<string, readonly string[]>> = {
  rows: ['rows', 'count'],
  failed: ['failures', 'errors'],
  total: ['tokens', 'cost'],
};

/** The columns of token counts. `sqlOf`: returns the SQL of one of them. */
const tokens = (
  sqlOf: (token: string) => string,
): Readonly<Record<`${keyof typeof batchCounts.tokens}_tokens`, Column>> =>
  Object.fromEntries(
    Object.entries(batchCounts.tokens).map(([name, about]) => [
      `${name}_tokens`,
      number(sqlOf(name), about, { guesses: guesses[name] ?? [] }),
    ]),
  ) as Record<`${keyof typeof batchCounts.tokens}_tokens`, Column>;

/** The table of the texts of batches. */
export const scores = {
  about: 'a text of a batch, with its score',
  columns: {
    batch: stored('string', 'the batch'),
    text_id: text('id', 'your id of the text'),
    line: stored('bigint', 'its line in your file', { guesses: ['row'] }),
    outcome: storedWord('outcome', outcomes, {
      more: '; a bad row had no text to score',
      guesses: ['status', 'state'],
    }),
    sentiment: storedWord(
      'sentiment',
      'the sentiment of the text as a whole, in lower case; null if it was scored by topics',
      {
        guesses: ['score'],
      },
    ),
    topic_sentiments: text(
      'topicsentiments',
      'topics and their sentiments in lower case, as JSON; the table score_topics has a row for each',
      { guesses: ['topics', 'topic'] },
    ),
    sent: stored('json', 'the sentiments as the platform sent them, as JSON, if it spelled them differently'),
    model: stored('string', 'the model that scored it'),
    error: stored('string', 'why it has no score'),
    erased: stored('boolean', 'true if the text was erased by `forget`'),
    columns: stored('map<string,string>', 'the columns of your file'),
    day: stored('string', 'the day in the first of these columns that contains a date, as a string', {
      guesses: ['date', 'dt'],
    }),
    calls: stored(
      'bigint',
      'calls that were paid for; if a chunk has equal texts, only the row of the first one has their calls',
    ),
    cached: stored('bigint', '1 if it cost nothing, since its score was known'),
    paid_again: number('paidagain', batchCounts.costs.paidAgain),
    ...tokens((token) => `tokens.${token}`),
    text_hash: text('texthash', 'the SHA-256 of the text'),
    chunk: stored('bigint', 'the chunk of the batch that it was in'),
    id: stored('string', 'the same as text_id'),
    textHash: stored('string', 'the same as text_hash'),
    topicSentiments: stored('json', 'the same as topic_sentiments'),
    paidAgain: stored('bigint'),
    tokens: stored('struct<input:bigint,output:bigint,total:bigint,reasoning:bigint>'),
  },
  guesses: ['texts'],
} as const satisfies TableDefinition;

const scoreTopics: TableDefinition = {
  about: 'the sentiment of a topic in a text',
  columns: {
    batch: text('s.batch', 'the batch'),
    text_id: text('s.id', 'your id of the text', { guesses: ['id'] }),
    line: number('s.line', 'its line in your file'),
    chunk: number('s.chunk', 'the chunk of the batch that it was in'),
    topic: text('t.topic', 'the topic; null if the text was scored as a whole'),
    sentiment: word(
      "coalesce(json_extract_scalar(t.value, '$'), s.sentiment)",
      'positive, negative, neutral or not_applicable',
    ),
    day: text('s.day', 'the day in the first column of the text that contains a date, as a string', {
      guesses: ['date', 'dt', 'week'],
    }),
  },
  from: `FROM stored_scores AS s
  LEFT JOIN UNNEST(map_entries(try(CAST(json_parse(s.topicsentiments) AS map(varchar, json))))) AS t (topic, value) ON TRUE
  WHERE s.outcome = 'scored'`,
  guesses: ['sentiments', 'sentiment', 'topics'],
};

/** The name of a count in SQL. */
const sqlName = (name: string): string =>
  name === 'rows' ? 'texts' : name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const { rows, costs } = batchCounts;

/** The columns to sum over the rows of a batch. */
const summed = [...Object.keys(costs).map(sqlName), ...Object.keys(tokens(sqlName))];

const counted = Object.entries(rows).map(
  ([name, of]) =>
    `count(*) FILTER (WHERE s.outcome IN (${of.outcomes.map((each) => `'${each}'`).join(', ')})) AS ${sqlName(name)}`,
);

const batches: TableDefinition = {
  about: 'a batch of scored texts, with what it has cost',
  columns: {
    batch: text('coalesce(s.batch, j.batch)', 'the name of the batch', { guesses: ['name', 'id'] }),
    ...Object.fromEntries(
      Object.entries(rows).map(([name, { about }]) => [
        sqlName(name),
        number(`coalesce(s.${sqlName(name)}, 0)`, about, { guesses: guesses[name] ?? [] }),
      ]),
    ),
    first_day: text('j.first_day', 'the day of its first job; null if it was scored without jobs'),
    last_day: text('j.last_day', 'the day of its last job', { guesses: ['dt', 'day', 'finished_at'] }),
    chunks: number('coalesce(s.chunks, j.chunks, 0)', 'how many of its chunks have ended'),
    not_done: number('coalesce(j.not_done, 0)', 'how many of its jobs failed or have an unknown outcome'),
    ...Object.fromEntries(
      Object.entries(costs).map(([name, about]) => [sqlName(name), number(`s.${sqlName(name)}`, about)]),
    ),
    ...tokens((token) => `s.${token}_tokens`),
  },
  from: `FROM (
  SELECT s.batch, ${counted.join(', ')}, count(DISTINCT s.chunk) AS chunks,
    ${summed.map((name) => `coalesce(sum(s.${name}), 0) AS ${name}`).join(', ')}
  FROM scores AS s WHERE s.batch IS NOT NULL GROUP BY s.batch
) AS s FULL JOIN (
  SELECT batch, min(dt) AS first_day, max(dt) AS last_day, count(*) AS chunks,
    count(*) FILTER (WHERE status <> 'done') AS not_done
  FROM jobs WHERE type = 'score' AND batch IS NOT NULL GROUP BY batch
) AS j ON s.batch = j.batch`,
};

/** The tables of batches and scores, which are computed from the rows of batches and from their jobs. */
export const batchTables = { scores, score_topics: scoreTopics, batches };
