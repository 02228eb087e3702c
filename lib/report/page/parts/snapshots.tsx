import type { SnapshotFacts } from '../../facts.ts';
import { age, count, counted, duration, time } from '../text/numbers.ts';
import { Text } from '../text/text.tsx';

/** The last published run of a place: its age, records and consistency, and the ids that it could not read. */
export function Snapshot({ of, now }: { readonly of: SnapshotFacts; readonly now: number }) {
  const { place, run, startedAt, finishedAt, records, consistency, forced, totals } = of;
  const { start, end } = totals;
  const isMoving = start !== null && end !== null && start !== end;
  const figures = {
    Age: age(finishedAt, now),
    Finished: `${time(finishedAt)}, after ${duration(finishedAt - startedAt)}`,
    Records: count(records),
    Consistency: `${consistency === 'proved' ? 'proved: nothing that existed throughout is missing' : 'best effort'}${
      isMoving ? `; the platform counted ${count(start)} at the start and ${count(end)} at the end` : ''
    }`,
    Run: (
      <>
        <Text of={run} />
        {forced && <strong class="badge badge-broken"> published by force</strong>}
      </>
    ),
  };
  return (
    <section class="panel">
      <h4>
        <Text of={place} />
      </h4>
      <dl class="facts">
        {Object.entries(figures).map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </>
        ))}
      </dl>
      <Missing of={of} />
    </section>
  );
}

/** Why a newer run of a place was refused. All other figures of the place describe its published run. */
export function Refused({ of: { place, refused, finishedAt } }: { readonly of: SnapshotFacts }) {
  if (refused === undefined) return null;
  return (
    <div class="notice">
      <p>
        <strong>
          A newer run of <Text of={place} /> was refused
        </strong>
        : <Text of={refused.run} />. This report shows the run of {time(finishedAt)}.
      </p>
      <ul>
        {refused.reasons.map((reason) => (
          <li key={reason}>
            <Text of={reason} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function Missing({ of: { missing, missingTotal } }: { readonly of: SnapshotFacts }) {
  if (missingTotal === 0) return <p class="quiet-line">Everything could be read.</p>;
  return (
    <details>
      <summary>{counted(missingTotal, 'id')} could not be read</summary>
      {missingTotal > missing.length && <p>The first {count(missing.length)}:</p>}
      <ul class="ids">
        {missing.map(({ id, status }) => (
          <li key={id}>
            <Text of={id} /> (HTTP {status})
          </li>
        ))}
      </ul>
    </details>
  );
}
