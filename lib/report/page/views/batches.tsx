import type { BatchFacts } from '../../facts.ts';
import { colours } from '../charts/colours.ts';
import { DaysChart } from '../charts/days-chart.tsx';
import { SentimentsBar, sentimentNames, sentiments, sumOf } from '../charts/sentiments-bar.tsx';
import { Empty } from '../parts/empty.tsx';
import { Scrolled } from '../parts/scrolled.tsx';
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
        {(
          [
            ['texts', texts],
            ['scored', scored],
            ['from the cache', cached],
            ['failed', failed],
            ['tokens', tokens],
          ] as const
        ).map(([name, value]) => (
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

function Topics({ topics }: Pick<BatchFacts, 'topics'>) {
  return (
    <div class="panel">
      <ul class="legend">
        {sentiments.map((each) => (
          <li key={each}>
            <span class="swatch" style={{ background: colours[each] }} aria-hidden="true" />
            {sentimentNames[each]}
          </li>
        ))}
      </ul>
      <Scrolled label="Sentiments by topic">
        <table class="counts topics">
          <caption class="quiet">Sentiments by topic</caption>
          <thead>
            <tr>
              <th scope="col">Topic</th>
              <td />
              <th scope="col" class="number">
                Positive
              </th>
              <th scope="col" class="number">
                Negative
              </th>
              <th scope="col" class="number">
                Texts
              </th>
            </tr>
          </thead>
          <tbody>
            {topics.map(({ topic, sentiments: of }) => (
              <tr key={topic}>
                <th scope="row">{topic === '' ? 'Overall' : <Text of={topic} most={60} />}</th>
                <td class="bar-cell">
                  <SentimentsBar of={of} />
                </td>
                <td class="number">{share(of.positive, sumOf(of))}</td>
                <td class="number">{share(of.negative, sumOf(of))}</td>
                <td class="number">{count(sumOf(of))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolled>
    </div>
  );
}

function MostNegative({ of: { mostNegative } }: { readonly of: BatchFacts }) {
  if (mostNegative.length === 0) return null;
  return (
    <section class="panel">
      <h4>The most negative texts</h4>
      <ol class="ids">
        {mostNegative.slice(0, 10).map((each) => (
          <NegativeText key={each.id} of={each} />
        ))}
      </ol>
      {mostNegative.length > 10 && (
        <details>
          <summary>{count(mostNegative.length - 10)} more</summary>
          <ol class="ids" start={11}>
            {mostNegative.slice(10).map((each) => (
              <NegativeText key={each.id} of={each} />
            ))}
          </ol>
        </details>
      )}
    </section>
  );
}

function NegativeText({ of: { id, topics } }: { readonly of: BatchFacts['mostNegative'][number] }) {
  const named = topics.filter((topic) => topic !== '');
  return (
    <li>
      <Text of={id} most={60} />
      {named.length > 0 && (
        <span class="quiet-line">
          {' '}
          negative on <Text of={named.join(', ')} most={120} />
        </span>
      )}
    </li>
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
