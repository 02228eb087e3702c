import type { BatchFacts, Sentiments } from '../../facts.ts';
import { BarsChart, colours } from '../charts/chart.tsx';
import { spansOf } from '../charts/spans.ts';
import { Empty, Legend, NumbersTable, Scrolled } from '../parts/parts.tsx';
import { useReport } from '../state/report.ts';
import { count, counted, share, time } from '../text/numbers.ts';
import { shortened } from '../text/shown.ts';
import { Text } from '../text/text.tsx';

/** Shows the batches of scored texts. The texts themselves are not in the report. */
export function BatchesView() {
  const { facts } = useReport();
  return (
    <>
      <h2>Sentiment</h2>
      {facts.batches.length === 0 ? (
        <Empty command="platform-sync score comments.csv --text comment --batch NAME">
          No batch of texts has been scored yet.
        </Empty>
      ) : (
        facts.batches.map((batch) => <Batch key={batch.batch} of={batch} />)
      )}
    </>
  );
}

function Batch({ of }: { readonly of: BatchFacts }) {
  const { batch, finishedAt, topics, overTime, isCut } = of;
  const { rows, scored, failed, bad, cached, calls, tokens } = of;
  const counts = { rows, scored, 'from the cache': cached, failed, bad, calls, tokens: tokens.total };
  return (
    <section class="batch">
      <h3>
        <Text of={batch} />
      </h3>
      {finishedAt !== undefined && <p class="quiet-line">Finished {time(finishedAt)}</p>}
      <dl class="numbers-line">
        {Object.entries(counts).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{count(value)}</dd>
          </div>
        ))}
      </dl>
      {topics.length > 0 && <Topics topics={topics} />}
      {overTime !== undefined && overTime.days.length > 1 && <Days batch={batch} over={overTime} />}
      {isCut && (
        <p class="notice">
          This batch is very large. The counts include all of its texts; the days, the most negative texts and
          the failures only the first ones.
        </p>
      )}
      <div class="panels">
        <MostNegative of={of} />
        <Failures of={of} />
      </div>
    </section>
  );
}

const sentiments = (['positive', 'neutral', 'negative', 'not_applicable', 'other'] as const).map((key) => ({
  key,
  name: key.replace('_', ' '),
  colour: colours[key],
}));

/** The number of texts that have a sentiment. */
const sumOf = (of: Sentiments): number => sentiments.reduce((sum, { key }) => sum + of[key], 0);

/** The number of texts that mention a topic. Shares are computed from it. */
const mentionsOf = (of: Sentiments): number => sumOf(of) - of.not_applicable;

const Topics = ({ topics }: Pick<BatchFacts, 'topics'>) => (
  <div class="panel">
    <Legend of={sentiments} />
    <p class="quiet-line">Shares are of the texts that mention the topic.</p>
    <Scrolled label="Sentiments by topic">
      <NumbersTable
        kind="counts topics"
        caption="Sentiments by topic"
        heads={['Topic', '', 'Positive', 'Negative', 'Mention it', 'Texts']}
        rows={topics.map(({ topic, sentiments: of }) => [
          topic === '' ? 'Overall' : <Text of={topic} max={60} />,
          <SentimentsBar key={topic} of={of} />,
          share(of.positive, mentionsOf(of)),
          share(of.negative, mentionsOf(of)),
          mentionsOf(of),
          sumOf(of),
        ])}
      />
    </Scrolled>
  </div>
);

/** The shares of the sentiments as one stacked bar. */
function SentimentsBar({ of }: { readonly of: Sentiments }) {
  const total = sumOf(of);
  return (
    <span class="stack" aria-hidden="true">
      {sentiments
        .filter(({ key }) => of[key] > 0)
        .map(({ key, name, colour }) => (
          <span
            key={key}
            title={`${name}: ${count(of[key])}, ${share(of[key], total)}`}
            style={{ inlineSize: `${(100 * of[key]) / total}%`, background: colour }}
          />
        ))}
    </span>
  );
}

/** A chart of the sentiments by day; for longer spans by week or month, so that the bars stay visible. */
function Days({
  batch,
  over: { column, days },
}: {
  readonly batch: string;
  readonly over: NonNullable<BatchFacts['overTime']>;
}) {
  const { by, spans } = spansOf(days);
  const used = sentiments.filter(({ key }) => spans.some(({ sentiments: of }) => of[key] > 0));
  const negative = spans.reduce((sum, { sentiments: of }) => sum + of.negative, 0);
  const all = spans.reduce((sum, { sentiments: of }) => sum + mentionsOf(of), 0);
  return (
    <BarsChart
      title={`${batch} by ${column}${by === 'day' ? '' : `, one bar for each ${by}`}`}
      summary={`${share(negative, all)} are negative, over ${counted(spans.length, by)}.`}
      by={by}
      at={spans.map(({ day }) => day)}
      parts={used.map(({ key, name, colour }) => ({
        name,
        colour,
        values: spans.map(({ sentiments: of }) => of[key]),
      }))}
    />
  );
}

function MostNegative({ of: { mostNegative } }: { readonly of: BatchFacts }) {
  if (mostNegative.length === 0) return null;
  const texts = mostNegative.map(({ id, topics }) => {
    const named = topics.filter((topic) => topic !== '');
    return (
      <li key={id}>
        <Text of={id} max={60} />
        {named.length > 0 && (
          <span class="quiet-line">
            {' '}
            negative on <Text of={named.join(', ')} max={120} />
          </span>
        )}
      </li>
    );
  });
  return (
    <section class="panel">
      <h4>The most negative texts</h4>
      <ol class="ids">{texts.slice(0, 10)}</ol>
      {texts.length > 10 && (
        <details>
          <summary>{count(texts.length - 10)} more</summary>
          <ol class="ids" start={11}>
            {texts.slice(10)}
          </ol>
        </details>
      )}
    </section>
  );
}

/** The failures, with one line for each reason. */
function Failures({ of: { failures, failed } }: { readonly of: BatchFacts }) {
  if (failed === 0) return null;
  const byReason = [...Map.groupBy(failures, ({ reason }) => reason)].sort(
    ([, a], [, b]) => b.length - a.length,
  );
  return (
    <section class="panel">
      <h4>{counted(failed, 'failure')}</h4>
      <ul class="ids">
        {byReason.map(([reason, of]) => (
          <li key={reason}>
            {of.length > 1 && <strong>{count(of.length)} × </strong>}
            <Text of={reason} max={300} />:{' '}
            <Text
              of={of
                .slice(0, MAX_LISTED_IDS)
                .map(({ id }) => shortened(id, 60))
                .join(', ')}
            />
            {of.length > MAX_LISTED_IDS && ` and ${count(of.length - MAX_LISTED_IDS)} more`}
          </li>
        ))}
      </ul>
      {failures.length < failed && <p class="quiet-line">The first {count(failures.length)} of them.</p>}
    </section>
  );
}

/** Maximum ids to list for failures with the same reason. */
const MAX_LISTED_IDS = 5;
