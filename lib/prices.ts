import * as z from 'zod/mini';

const PRICE = { error: 'a price of one call: a number from 0 to 1,000,000' };
const UNIT = { error: 'the unit of the prices: 1 to 20 visible characters, such as credits' };
const price = z.optional(z.number(PRICE).check(z.minimum(0, PRICE), z.maximum(1_000_000, PRICE)));

/** The prices of calls, by what the calls do. */
const pricesFields = {
  /** The unit of the prices, such as credits. Required. */
  unit: z.string(UNIT).check(z.regex(/^[^\s\p{C}](?:[^\p{C}]{0,18}[^\s\p{C}])?$/u, UNIT)),
  /** The price of scoring one text; texts from the cache cost nothing. Default: no price. */
  score: price,
  /** The price of one run of a code function. Default: no price. */
  'run-function': price,
  /** The price of one update of a formula. Default: no price. */
  'update-formula': price,
};

/** The type of `pricesSchema`, named for the package's type declarations. */
export interface PricesSchema extends z.ZodMiniObject<typeof pricesFields, z.core.$strict> {}

/** Schema of the setting PLATFORM_PRICES. */
export const pricesSchema: PricesSchema = z.strictObject(pricesFields, {
  error: 'an object of unit, score, run-function and update-formula',
});

type Prices = z.infer<typeof pricesSchema>;

/** Numbers of calls, by the names of their prices. Calls without a price are free. */
type PricedCalls = Readonly<Record<string, number>>;

/** An amount of money. `amount` includes `possibly`, which is for calls whose outcome is unknown. */
export type Money = { readonly unit: string; readonly amount: number; readonly possibly: number };

/** The cost of calls. `unknown`: the number of calls with an unknown outcome. Undefined if no call has a price. */
export function moneyFor(
  prices: Prices | undefined,
  calls: PricedCalls,
  unknown: PricedCalls = {},
): Money | undefined {
  if (prices === undefined) return undefined;
  const { unit, ...each } = prices;
  const priced = Object.entries(each).filter(([name]) => Object.hasOwn(calls, name));
  // A sum of decimals is inexact, with more digits than the prices, so it is rounded.
  const sum = (counts: PricedCalls) =>
    Number(priced.reduce((all, [name, of = 0]) => all + of * (counts[name] ?? 0), 0).toFixed(6));
  return priced.length === 0 ? undefined : { unit, amount: sum(calls), possibly: sum(unknown) };
}

/** An amount in words: `12.5 credits, 2 of them possibly: for calls whose outcome is unknown`. */
export function moneyWords({ unit, amount, possibly }: Money): string {
  const shown = (value: number) => value.toLocaleString('en', { maximumFractionDigits: 6 });
  const open =
    possibly === 0 ? '' : `, ${shown(possibly)} of them possibly: for calls whose outcome is unknown`;
  return `${shown(amount)} ${unit}${open}`;
}

/**
 * The line about cost in a dry run; empty without a price. If a call is repeated after a lost response, it may be paid
 * for twice.
 */
export const maxCostWords = (money: Money | undefined): readonly string[] =>
  money === undefined ? [] : [`would cost at most ${moneyWords(money)}, if no call is repeated`];

/** The line about cost in a summary; empty without a price. */
export const costWords = (money: Money | undefined): readonly string[] =>
  money === undefined ? [] : [`cost: ${moneyWords(money)}`];
