/** The possible outcomes of a row of a batch. `bad`: it had no text to score; `cancelled`: its job was cancelled. */
export const outcomes = ['scored', 'failed', 'cancelled', 'bad', 'erased'] as const;

/**
 * The counts of a batch, which its chunks, `_summary.json`, the commands, SQL and the report share: its rows by
 * outcome, what they cost, and the tokens that were paid for, with `total` as the platform counts it.
 */
export const batchCounts = {
  rows: {
    rows: { outcomes, about: 'how many rows it has in its parts' },
    scored: { outcomes: ['scored'], about: 'how many of them have a score' },
    failed: {
      outcomes: ['failed', 'cancelled'],
      about: 'how many failed, including those whose job was cancelled',
    },
    cancelled: { outcomes: ['cancelled'], about: 'how many of the failed rows were cancelled' },
    bad: { outcomes: ['bad'], about: 'how many had no text to score' },
    erased: { outcomes: ['erased'], about: 'how many were erased by `forget`' },
  },
  costs: {
    cached: 'texts that cost nothing, since their score was known',
    calls: 'calls that were paid for',
    paidAgain: 'calls that may have been paid for twice',
  },
  tokens: {
    input: 'tokens that were sent',
    output: 'tokens that were returned',
    total: 'both together, as the platform counts',
    reasoning: 'tokens that went into reasoning',
  },
} as const satisfies {
  readonly rows: Readonly<
    Record<string, { readonly outcomes: readonly (typeof outcomes)[number][]; readonly about: string }>
  >;
  readonly costs: Readonly<Record<string, string>>;
  readonly tokens: Readonly<Record<string, string>>;
};

type Numbers<Counted> = { readonly [Name in keyof Counted]: number };

/** What rows cost. For a single row, `cached` is 1 if its score was already known. */
export type RowCosts = Numbers<typeof batchCounts.costs> & {
  readonly tokens: Numbers<typeof batchCounts.tokens>;
};

/** All counts of a batch, by name. */
export type BatchCounts = Numbers<typeof batchCounts.rows> & RowCosts;

const names = [...Object.keys(batchCounts.rows), ...Object.keys(batchCounts.costs), 'tokens'];

/** Picks the counts out of a larger object, such as a summary. */
export const countsOf = (counted: BatchCounts): BatchCounts =>
  Object.fromEntries(Object.entries(counted).filter(([name]) => names.includes(name))) as BatchCounts;
