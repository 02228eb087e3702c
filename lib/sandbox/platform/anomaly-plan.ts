import { drawFor, randomFor } from './records/random.ts';

/** What the sandbox can do to a page of records, so that the list is not whole although nothing failed. */
export const anomalyKinds = [
  /** A file is renamed to another place in the order of paths, just before the page. Files only. */
  'rename',
  /** The page has no rows, and a new cursor. Files only. */
  'empty-page',
  /** The page begins with the last row of the page before. Files only. */
  'repeat',
  /** A row of the page is missing from this response, as if it were being updated; the total counts it. */
  'vanish',
] as const;

export type AnomalyKind = (typeof anomalyKinds)[number];

export type AnomalyPlan = {
  /** The share of pages that have an anomaly, from 0 to 1. */
  readonly anomalies: number;
  readonly anomalyKinds: readonly AnomalyKind[];
  /** By the number of the request. */
  readonly plannedAnomalies: Readonly<Record<string, AnomalyKind>>;
};

/** The anomaly of request `number` (1 is the first), or undefined. It depends only on the seed, the plan and the number. */
export function anomalyFor(seed: number, plan: AnomalyPlan, number: number): AnomalyKind | undefined {
  const planned = plan.plannedAnomalies[String(number)];
  if (planned !== undefined) return planned;
  if (drawFor(seed, 'anomaly', number) >= plan.anomalies) return undefined;
  return randomFor(seed, 'anomaly kind', number).pick(plan.anomalyKinds);
}
