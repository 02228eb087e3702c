import type { ChangeFacts, ChangesFacts, FormulaUpdate, SnapshotFacts } from '../../facts.ts';
import { BarsChart, colours } from '../charts/chart.tsx';
import { Chips, Empty, NodeLink } from '../parts/parts.tsx';
import { type Params, show } from '../state/hash.ts';
import { usePrinting } from '../state/printing.ts';
import { useReport } from '../state/report.ts';
import { count, counted, time } from '../text/numbers.ts';
import { Text, TextDiff } from '../text/text.tsx';

type Props = { readonly params: Params };

/** Shows the changes of each place's last run, the history of its runs, and the updates of formulas. */
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

/** A chart of the changes from run to run: added and changed records above the axis, removed records below it. */
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
      summary={`In total, ${parts.map(({ name, sum }) => `${count(sum)} ${name}`).join(', ')}.`}
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
        {before === null && ', the first stored formula of this calculation'}
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

const FIRST_SHOWN = 20;

const KINDS = ['added', 'changed', 'removed'].map((name) => ({ name, label: name }));

/** The changes of a run, with a button that shows more of them. */
function ChangeList({
  of: { place, source },
  changes,
  params,
}: {
  readonly of: SnapshotFacts;
  readonly changes: ChangesFacts;
  readonly params: Params;
}) {
  const total = changes.added + changes.changed + changes.removed;
  const { listed } = changes;
  const kind = params[`${place}.kind`] ?? '';
  const asked = Number.parseInt(params[`${place}.most`] ?? '', 10) || FIRST_SHOWN;
  const maxShown = usePrinting() ? listed.length : asked;
  const found = kind === '' ? listed : listed.filter(({ change }) => change === kind);
  const set = (name: string, value: string) =>
    show('changes', { ...params, [`${place}.${name}`]: value }, { replace: true });
  return (
    <>
      <Chips
        legend="Show only"
        chips={KINDS}
        isPressed={(name) => name === kind}
        onPress={(name) => set('kind', kind === name ? '' : name)}
      />
      <p class="found" role="status">
        {listed.length < total
          ? `The first ${count(listed.length)} of ${counted(total, 'change')} are listed`
          : counted(found.length, 'change')}
        {found.length > maxShown && `, ${count(maxShown)} shown`}
      </p>
      <ol class="changes">
        {found.slice(0, maxShown).map((change) => (
          <Change key={`${change.change} ${change.key}`} of={change} source={source} />
        ))}
      </ol>
      {found.length > maxShown && (
        <button type="button" class="more" onClick={() => set('most', String(maxShown + 100))}>
          Show {count(Math.min(100, found.length - maxShown))} more
        </button>
      )}
    </>
  );
}

const SIGNS = { added: '+', changed: '~', removed: '−' } as const;

function Change({ of, source }: { readonly of: ChangeFacts; readonly source: string }) {
  const { change, key, label, fields } = of;
  const kind = source === 'calculations' ? 'calculation' : source === 'cards' ? 'card' : undefined;
  return (
    <li class={`change change-${change}`}>
      <p class="change-head">
        <span class="change-kind">
          <span aria-hidden="true">{SIGNS[change]} </span>
          {change}
        </span>{' '}
        {kind !== undefined && change !== 'removed' ? (
          <NodeLink kind={kind} id={key} name={label} />
        ) : (
          <Text of={label === '' ? key : label} max={120} />
        )}{' '}
        {label !== key && <span class="quiet-line">{<Text of={key} max={80} />}</span>}
      </p>
      {change === 'changed' && fields.length > 0 && (
        <dl class="fields">
          {fields.map(({ name, before, after }) => (
            <div key={name}>
              <dt>
                <Text of={name} />
              </dt>
              <dd>
                <FieldChange name={name} before={before} after={after} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </li>
  );
}

/** The change of a field: a diff of long values, or the old and the new value if they are short. */
function FieldChange({
  name,
  before,
  after,
}: {
  readonly name: string;
  readonly before: string | null;
  readonly after: string | null;
}) {
  const isTime = TIME_FIELD.test(name);
  if (before !== null && after !== null && before.length + after.length > 120)
    return <TextDiff before={plain(before, isTime)} after={plain(after, isTime)} />;
  const value = (of: string | null, As: 'del' | 'ins') =>
    of === null ? (
      <em>absent</em>
    ) : (
      <As>
        <Text of={plain(of, isTime)} />
      </As>
    );
  return (
    <span class="values">
      {value(before, 'del')}
      <span aria-hidden="true"> → </span>
      {value(after, 'ins')}
    </span>
  );
}

/** Matches the names of fields that may contain epoch milliseconds. */
const TIME_FIELD = /modified|created|uploaded|time/i;

/** A value as the reader sees it: a string without quotation marks, a time as a date, any other value as JSON. */
function plain(json: string, isTime: boolean): string {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === 'string') return value === '' ? '(empty)' : value;
    if (isTime && typeof value === 'number') return time(value);
  } catch {
    // A value that was shortened is no longer JSON, so it is shown unchanged.
  }
  return json;
}
