import type { JobFacts, SnapshotFacts } from '../../facts.ts';
import { BarsChart, colours } from '../charts/chart.tsx';
import { Empty, Notice, NumbersTable, Scrolled } from '../parts/parts.tsx';
import { usePrinting } from '../state/printing.ts';
import { useReport } from '../state/report.ts';
import { count, counted, duration, time } from '../text/numbers.ts';
import { Text } from '../text/text.tsx';

/** Shows the jobs that need attention, the number of jobs by type and outcome, and the requests of the last runs. */
export function JobsView() {
  const { facts } = useReport();
  const { jobs } = facts;
  const withRequests = facts.snapshots.filter(({ history }) => history.length > 0);
  return (
    <>
      <h2>Jobs and pace</h2>
      <Notice id="throttled" title="The platform throttles only these operations" texts={facts.throttled} />
      {jobs.types.length === 0 ? (
        <Empty command="platform-sync submit job.json">
          No job has ended since {time(jobs.sinceMs)}. A job updates a formula, runs a code function or scores
          texts.
        </Empty>
      ) : (
        <>
          <Attention jobs={jobs} />
          <Types jobs={jobs} />
        </>
      )}
      {facts.cost && (
        <p class="lead">
          <Text of={facts.cost.words} />.
        </p>
      )}
      <h3>Requests</h3>
      {withRequests.length === 0 ? (
        <Empty command="platform-sync snapshot calculations">No run has been published yet.</Empty>
      ) : (
        <div class="panels panels-charts">
          {withRequests.map((snapshot) => (
            <Requests key={snapshot.place} of={snapshot} />
          ))}
        </div>
      )}
    </>
  );
}

function Attention({ jobs: { attention } }: { readonly jobs: JobFacts }) {
  const maxShown = usePrinting() ? attention.length : MAX_SHOWN;
  if (attention.length === 0) return <p class="lead">Every job is done.</p>;
  const alike = [
    ...Map.groupBy(attention, ({ type, status, reason }) => JSON.stringify([type, status, reason])).values(),
  ];
  return (
    <>
      <h3>To look at</h3>
      <ul class="attention">
        {alike.slice(0, maxShown).map(
          ([job, ...others]) =>
            job && (
              <li key={`${job.id} ${job.finishedAt}`} class={`panel attention-${job.status}`}>
                <h4>
                  <span class={`badge badge-${job.status}`}>{job.status}</span> <Text of={job.id} max={80} />
                  {others.length > 0 && ` and ${count(others.length)} more with the same outcome`}
                </h4>
                <p class="quiet-line">
                  {job.type}, attempt {count(job.attempts)}, {time(job.finishedAt)}
                </p>
                <p>
                  <Text of={job.reason} max={400} />
                </p>
                <p class="advice">
                  <Text of={job.advice} />
                </p>
                {others.length > 0 && (
                  <details>
                    <summary>{counted(others.length, 'more job')} with the same outcome</summary>
                    <ul class="ids">
                      {others.map(({ id, finishedAt }) => (
                        <li key={`${id} ${finishedAt}`}>
                          <Text of={id} max={80} />
                        </li>
                      ))}
                    </ul>
                  </details>
                )}
              </li>
            ),
        )}
      </ul>
      {alike.length > maxShown && (
        <p class="quiet-line">
          The first {count(maxShown)} of {counted(alike.length, 'outcome')} of {count(attention.length)} jobs.
        </p>
      )}
    </>
  );
}

/** Maximum groups of jobs with the same outcome to show. */
const MAX_SHOWN = 50;

function Types({ jobs: { types, sinceMs, isCut } }: { readonly jobs: JobFacts }) {
  return (
    <>
      <h3>By type</h3>
      <p class="quiet-line">
        Results since {time(sinceMs)}
        {isCut && ': only the newest, since there are more than the report reads'}
      </p>
      <Scrolled label="Jobs by type and outcome">
        <NumbersTable
          caption="Jobs by type and outcome"
          heads={['Type', 'Unknown', 'Failed', 'Done']}
          rows={types.map(({ type, unknown, failed, done }) => [type, unknown, failed, done])}
        />
      </Scrolled>
    </>
  );
}

/** A chart of the requests of each run, and how many of them were throttled. */
function Requests({ of: { place, history } }: { readonly of: SnapshotFacts }) {
  const sum = (name: 'requests' | 'throttled' | 'retries' | 'waitedMs') =>
    history.reduce((total, run) => total + run[name], 0);
  return (
    <BarsChart
      title={`${place}: requests of the last ${counted(history.length, 'run')}`}
      summary={`${count(sum('requests'))} requests, ${count(sum('throttled'))} throttled, ${count(sum('retries'))} retries; ${duration(sum('waitedMs'))} waited.`}
      by="run"
      at={history.map(({ startedAt }) => time(startedAt))}
      parts={[
        {
          name: 'let through',
          colour: colours.plain,
          values: history.map(({ requests, throttled }) => requests - throttled),
        },
        { name: 'throttled', colour: colours.removed, values: history.map(({ throttled }) => throttled) },
      ]}
      more={{
        retries: history.map(({ retries }) => retries),
        waited: history.map(({ waitedMs }) => duration(waitedMs)),
        took: history.map(({ startedAt, finishedAt }) => duration(finishedAt - startedAt)),
      }}
    />
  );
}
