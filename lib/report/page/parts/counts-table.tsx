import type { Counts } from '../../facts.ts';
import { count, share } from '../text/numbers.ts';
import { readable } from '../text/shown.ts';
import { Text } from '../text/text.tsx';
import { NumbersTable } from './parts.tsx';

/** The number of values to show before `more` is opened. */
const SHOWN_VALUES = 6;

/** A table of values with their counts and bars. */
export function CountsTable(options: {
  readonly title: string;
  readonly counts: Counts;
  /** The total to compute the shares from. */
  readonly total: number;
  /** The address of the list of things with a value. */
  readonly hrefOf?: ((value: string) => string) | undefined;
}) {
  const { title, counts, total, hrefOf } = options;
  const largest = Math.max(1, ...counts.values.map(([, each]) => each));
  const rows = counts.values.map(([value, each]) => {
    const text = <Text of={value} max={60} />;
    const name = (
      <>
        <span title={readable(value)}>
          {hrefOf === undefined ? text : <a href={hrefOf(value)}>{text}</a>}
        </span>
        <span
          aria-hidden="true"
          class="bar"
          style={{ inlineSize: each === 0 ? 0 : `${Math.max(0.5, (100 * each) / largest)}%` }}
        />
      </>
    );
    return [name, each, share(each, total)] as const;
  });
  const table = (caption: string, of: typeof rows) => (
    <NumbersTable
      kind="counts"
      caption={caption}
      heads={['Value', 'Count', 'Share']}
      headed={false}
      rows={of}
    />
  );
  return (
    <section class="panel">
      <h4>{title}</h4>
      {rows.length === 0 ? <p class="quiet-line">None.</p> : table(title, rows.slice(0, SHOWN_VALUES))}
      {rows.length > SHOWN_VALUES && (
        <details>
          <summary>{count(rows.length - SHOWN_VALUES)} more</summary>
          {table(`${title}, the rest`, rows.slice(SHOWN_VALUES))}
        </details>
      )}
      {counts.others > 0 && <p class="quiet-line">{count(counts.others)} have other values.</p>}
    </section>
  );
}
