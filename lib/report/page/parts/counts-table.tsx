import type { Counts } from '../../facts.ts';
import { count, share } from '../text/numbers.ts';
import { readable } from '../text/shown.ts';
import { Text } from '../text/text.tsx';

type Props = {
  readonly title: string;
  readonly counts: Counts;
  /** What is counted: of how many each row is a share. */
  readonly total: number;
  /** Where a value leads: the list of those that have it. */
  readonly hrefOf?: ((value: string) => string) | undefined;
  /** What a value is called. Default: itself. */
  readonly labelOf?: (value: string) => string;
};

/** How many are shown at first. */
const MOST = 6;

/** How often each value occurs, as bars that are also a table. */
export function CountsTable({ title, counts, total, hrefOf, labelOf = (value) => value }: Props) {
  const rest = counts.values.slice(MOST);
  const largest = Math.max(1, ...counts.values.map(([, each]) => each));
  const text = (value: string) => <Text of={labelOf(value)} most={60} />;
  const row = ([value, each]: readonly [string, number]) => (
    <tr key={value}>
      <th scope="row" title={readable(labelOf(value))}>
        {hrefOf === undefined ? text(value) : <a href={hrefOf(value)}>{text(value)}</a>}
        <span
          aria-hidden="true"
          class="bar"
          style={{ inlineSize: `${Math.max(0.5, (100 * each) / largest)}%` }}
        />
      </th>
      <td class="number count">{count(each)}</td>
      <td class="number share">{share(each, total)}</td>
    </tr>
  );
  return (
    <section class="panel">
      <h4>{title}</h4>
      {counts.values.length === 0 ? (
        <p class="quiet-line">None.</p>
      ) : (
        <>
          <table class="counts">
            <caption class="quiet">{title}</caption>
            <thead class="quiet">
              <tr>
                <th scope="col">Value</th>
                <th scope="col" class="count">
                  Count
                </th>
                <th scope="col" class="share">
                  Share
                </th>
              </tr>
            </thead>
            <tbody>{counts.values.slice(0, MOST).map(row)}</tbody>
          </table>
          {rest.length > 0 && (
            <details>
              <summary>{count(rest.length)} more</summary>
              <table class="counts">
                <caption class="quiet">{title}, the rest</caption>
                <tbody>{rest.map(row)}</tbody>
              </table>
            </details>
          )}
          {counts.others > 0 && <p class="quiet-line">{count(counts.others)} have yet other values.</p>}
        </>
      )}
    </section>
  );
}
