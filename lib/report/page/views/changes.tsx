import type { FormulaUpdate, SnapshotFacts } from '../../facts.ts';
import { BarsChart, colours } from '../charts/chart.tsx';
import { ChangeList } from '../parts/change-list.tsx';
import { Empty, NodeLink } from '../parts/parts.tsx';
import type { Params } from '../state/hash.ts';
import { useReport } from '../state/report.ts';
import { count, counted, time } from '../text/numbers.ts';
import { Text, TextDiff } from '../text/text.tsx';

type Props = { readonly params: Params };

/** The changes of the last run of each place, the history of its runs, and the updates of formulas. */
export function ChangesView({ params }: Props) {
  const { facts } = useReport();
  const compared = facts.snapshots.filter(
    ({ changes, history }) => changes !== undefined || history.length > 1,
  );
  return (
    <>
      <h2>What changed</h2>
      {facts.snapshots.length === 0 && (
        <Empty command="platform-sync snapshot calculations">No snapshot has been published yet.</Empty>
      )}
      {facts.snapshots.length > 0 && compared.length === 0 && (
        <Empty command="platform-sync snapshot calculations">
          Each place has only one run. The changes of the next one will be here.
        </Empty>
      )}
      {compared.map((snapshot) => (
        <PlaceChanges key={snapshot.place} of={snapshot} params={params} />
      ))}
      <h3>Formulas</h3>
      {facts.formulas.length === 0 ? (
        <Empty command="platform-sync formula set">
          No formula has been updated with platform-sync. Updates will be here, with their differences.
        </Empty>
      ) : (
        facts.formulas.map((update) => <Formula key={`${update.calculationId} ${update.at}`} of={update} />)
      )}
    </>
  );
}

function PlaceChanges({ of, params }: Props & { readonly of: SnapshotFacts }) {
  const { place, changes, history } = of;
  return (
    <section>
      <h3>
        <Text of={place} />
      </h3>
      {history.length > 1 &&
        (history.some(({ added, changed, removed }) => added + changed + removed > 0) ? (
          <History of={of} />
        ) : (
          <p>Nothing changed in the last {counted(history.length, 'run')}.</p>
        ))}
      {changes === undefined ? (
        <p>
          The changes of the last run are not stored: it was not compared with another run, or they have
          expired.
        </p>
      ) : (
        <>
          <p class="lead">
            The last run added <strong>{count(changes.added)}</strong>, changed{' '}
            <strong>{count(changes.changed)}</strong> and removed <strong>{count(changes.removed)}</strong>,
            against <Text of={changes.against} />.
          </p>
          {changes.listed.length > 0 && <ChangeList of={of} changes={changes} params={params} />}
        </>
      )}
    </section>
  );
}

/** What changed from run to run: added and changed records above the axis, removed ones below it. */
function History({ of: { place, history } }: { readonly of: SnapshotFacts }) {
  const parts = (['added', 'changed', 'removed'] as const).map((name) => ({
    name,
    colour: colours[name],
    values: history.map((run) => (name === 'removed' ? -run[name] : run[name])),
    sum: history.reduce((sum, run) => sum + run[name], 0),
  }));
  return (
    <BarsChart
      title={`${place}: the last ${counted(history.length, 'run')}`}
      summary={`In all ${parts.map(({ name, sum }) => `${count(sum)} ${name}`).join(', ')}.`}
      by="run"
      at={history.map(({ startedAt }) => time(startedAt))}
      parts={parts}
      more={{ records: history.map(({ records }) => records) }}
    />
  );
}

function Formula({ of: { calculationId, name, at, before, after } }: { readonly of: FormulaUpdate }) {
  return (
    <article class="panel formula">
      <h4>
        <NodeLink kind="calculation" id={calculationId} name={name} />
      </h4>
      <p class="quiet-line">
        {time(at)}
        {before === null && ', the first formula of it that was stored'}
      </p>
      {before === null ? (
        <pre class="diff">
          <bdi>{after}</bdi>
        </pre>
      ) : (
        <TextDiff before={before} after={after} />
      )}
    </article>
  );
}
