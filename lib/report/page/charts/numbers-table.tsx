import { count } from '../text/numbers.ts';

type Props = {
  readonly caption: string;
  readonly heads: readonly string[];
  /** The first of each row names it. */
  readonly rows: readonly (readonly [string, ...(readonly (number | string)[])])[];
};

/** The numbers of a chart. */
export function NumbersTable({ caption, heads, rows }: Props) {
  return (
    <table class="list">
      <caption class="quiet">{caption}</caption>
      <thead>
        <tr>
          {heads.map((head, index) => (
            <th key={head} scope="col" class={index > 0 ? 'number' : undefined}>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, ...values]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            {values.map((value, index) => (
              <td key={heads[index + 1]} class="number">
                {typeof value === 'number' ? count(value) : value}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
