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
  readonly hrefOf?: (value: string) => string;
  /** What a value is called. Default: itself. */
  readonly labelOf?: (value: string) => string;
  /** How many to show at first. Default 6. */
  readonly most?: number;
};

/** How often each value occurs, as bars that are also a table. */
export function CountsTable({ title, counts, total, hrefOf, labelOf = itself, most = 6 }: Props) {
  const shown = counts.values.slice(0, most);
  const rest = counts.values.slice(most);
  const largest = Math.max(1, ...counts.values.map(([, each]) => each));
  const row = ([value, each]: readonly [string, number]) => (
    <tr key={value}>
      <th scope="row" title={readable(labelOf(value))}>
        {hrefOf === undefined ? (
          <Text of={labelOf(value)} most={60} />
        ) : (
          <a href={hrefOf(value)}>
            <Text of={labelOf(value)} most={60} />
          </a>
        )}
        <Bar share={each / largest} />
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
            <tbody>{shown.map(row)}</tbody>
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

const itself = (value: string) => value;

/** A bar that is `share` of its cell wide. */
function Bar({ share: part }: { readonly share: number }) {
  return <span aria-hidden="true" class="bar" style={{ inlineSize: `${Math.max(0.5, 100 * part)}%` }} />;
}
