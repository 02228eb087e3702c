import type { ChangeFacts, ChangesFacts, SnapshotFacts } from '../../facts.ts';
import { type Params, show } from '../state/hash.ts';
import { usePrinting } from '../state/printing.ts';
import { count, counted, time } from '../text/numbers.ts';
import { Text, TextDiff } from '../text/text.tsx';
import { Chips, NodeLink } from './parts.tsx';

const PAGE = 20;

const KINDS = ['added', 'changed', 'removed'].map((name) => ({ name, label: name }));

/** The changes of a run; a button shows more of them. */
export function ChangeList({
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
  const asked = Number.parseInt(params[`${place}.most`] ?? '', 10) || PAGE;
  const most = usePrinting() ? listed.length : asked;
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
        {found.length > most && `, ${count(most)} shown`}
      </p>
      <ol class="changes">
        {found.slice(0, most).map((change) => (
          <Change key={`${change.change} ${change.key}`} of={change} source={source} />
        ))}
      </ol>
      {found.length > most && (
        <button type="button" class="more" onClick={() => set('most', String(most + 100))}>
          Show {count(Math.min(100, found.length - most))} more
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
          <Text of={label === '' ? key : label} most={120} />
        )}{' '}
        {label !== key && <span class="quiet-line">{<Text of={key} most={80} />}</span>}
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

/** Long texts as a diff; short values as old and new. */
function FieldChange({
  name,
  before,
  after,
}: {
  readonly name: string;
  readonly before: string | null;
  readonly after: string | null;
}) {
  const isTime = TIME.test(name);
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

/** The names of fields that hold epoch milliseconds. */
const TIME = /modified|created|uploaded|time/i;

/** A text without quotation marks, a time as a date, anything else as JSON. */
function plain(json: string, isTime: boolean): string {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === 'string') return value === '' ? '(empty)' : value;
    if (isTime && typeof value === 'number') return time(value);
  } catch {
    // A value that was shortened is not JSON any more: it is shown as text.
  }
  return json;
}
