import type { BatchFacts } from '../../facts.ts';
import { DaysChart } from '../charts/charts.tsx';
import { SentimentsBar, sentimentLegend, sentiments, sumOf } from '../charts/sentiments-bar.tsx';
import { Empty, Legend, NumbersTable, Scrolled } from '../parts/parts.tsx';
import { useReport } from '../state/report.ts';
import { count, counted, share, time } from '../text/numbers.ts';
import { Text } from '../text/text.tsx';

/** Each batch of scored texts. The texts themselves are not in the report. */
export function BatchesView() {
  const { facts } = useReport();
  return (
    <>
      <h2>Sentiment</h2>
      {facts.batches.length === 0 ? (
        <Empty command="platform-sync score comments.csv --text comment --batch NAME">
          No batch of texts was scored yet.
        </Empty>
      ) : (
        facts.batches.map((batch) => <Batch key={batch.batch} of={batch} />)
      )}
    </>
  );
}

function Batch({ of }: { readonly of: BatchFacts }) {
  const { batch, finishedAt, texts, scored, failed, cached, tokens, topics, overTime, isCut } = of;
  return (
    <section class="batch">
      <h3>
        <Text of={batch} />
      </h3>
      {finishedAt !== undefined && <p class="quiet-line">Finished {time(finishedAt)}</p>}
      <dl class="numbers-line">
        {Object.entries({ texts, scored, 'from the cache': cached, failed, tokens }).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{count(value)}</dd>
          </div>
        ))}
      </dl>
      {topics.length > 0 && <Topics topics={topics} />}
      {overTime !== undefined && overTime.days.length > 1 && <DaysChart batch={batch} over={overTime} />}
      {isCut && (
        <p class="notice">
          Very many texts: the counts are of all, days, the most negative and failures of the first.
        </p>
      )}
      <div class="panels">
        <MostNegative of={of} />
        <Failures of={of} />
      </div>
    </section>
  );
}

const Topics = ({ topics }: Pick<BatchFacts, 'topics'>) => (
  <div class="panel">
    <Legend of={sentimentLegend(sentiments)} />
    <Scrolled label="Sentiments by topic">
      <NumbersTable
        kind="counts topics"
        caption="Sentiments by topic"
        heads={['Topic', '', 'Positive', 'Negative', 'Texts']}
        rows={topics.map(({ topic, sentiments: of }) => [
          topic === '' ? 'Overall' : <Text of={topic} most={60} />,
          <SentimentsBar key={topic} of={of} />,
          share(of.positive, sumOf(of)),
          share(of.negative, sumOf(of)),
          sumOf(of),
        ])}
      />
    </Scrolled>
  </div>
);

function MostNegative({ of: { mostNegative } }: { readonly of: BatchFacts }) {
  if (mostNegative.length === 0) return null;
  const texts = mostNegative.map(({ id, topics }) => {
    const named = topics.filter((topic) => topic !== '');
    return (
      <li key={id}>
        <Text of={id} most={60} />
        {named.length > 0 && (
          <span class="quiet-line">
            {' '}
            negative on <Text of={named.join(', ')} most={120} />
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

function Failures({ of: { failures, failed } }: { readonly of: BatchFacts }) {
  if (failed === 0) return null;
  return (
    <section class="panel">
      <h4>{counted(failed, 'failure')}</h4>
      <ul class="ids">
        {failures.map(({ id, reason }) => (
          <li key={id}>
            <Text of={id} most={60} />: <Text of={reason} most={300} />
          </li>
        ))}
      </ul>
      {failures.length < failed && <p class="quiet-line">The first {count(failures.length)} of them.</p>}
    </section>
  );
}
