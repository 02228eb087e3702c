/** One line of the table. `bound`: the requirement, if there is one. */
export type Row = {
  readonly measured: string;
  readonly value: string;
  readonly bound?: string;
  readonly ok?: boolean;
};

/** A measurement for `npm run bench -- NAME`. Rows of a generator are printed one by one. */
export type Bench = {
  readonly name: string;
  /** The text above the rows on the page: what they show, how to read them, and what was learned. */
  readonly about: string;
  readonly run: () => AsyncIterable<Row> | Promise<readonly Row[]>;
};

/** A row with a bound, the value in words, and whether the bound holds. */
export const bounded = (measured: string, value: string, bound: string, ok: boolean): Row => ({
  measured,
  value,
  bound,
  ok,
});

/** A row for a ratio, such as of CPU times, with its maximum. */
export const atMost = (measured: string, ratio: number, most: number): Row =>
  bounded(measured, ratio.toFixed(2), `at most ${most}`, ratio <= most);

export const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
