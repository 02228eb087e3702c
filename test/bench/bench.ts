/** One line of the table. `bound` says what is required, if anything. */
export type Row = {
  readonly measured: string;
  readonly value: string;
  readonly bound?: string;
  readonly ok?: boolean;
};

/** A measurement that `npm run bench -- NAME` makes. Rows of a generator are printed as they come. */
export type Bench = {
  readonly name: string;
  /** What its rows show, how to read them and what was learned: stands above them on the page. */
  readonly about: string;
  readonly run: () => AsyncIterable<Row> | Promise<readonly Row[]>;
};

/** A row with a bound: the value in words, and whether it holds. */
export const bounded = (measured: string, value: string, bound: string, ok: boolean): Row => ({
  measured,
  value,
  bound,
  ok,
});

/** A row whose value is a ratio, such as of CPU times, that may be so large at most. */
export const atMost = (measured: string, ratio: number, most: number): Row =>
  bounded(measured, ratio.toFixed(2), `at most ${most}`, ratio <= most);

export const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
