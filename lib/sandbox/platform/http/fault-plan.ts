import { drawFor, randomFor } from '../records/random.ts';
import type { FaultKind } from './fault-kinds.ts';

export type FaultPlan = {
  readonly seed: number;
  /** The share of requests that hit a fault, from 0 to 1. */
  readonly faults: number;
  readonly faultKinds: readonly FaultKind[];
  /** By the number of the request. */
  readonly plannedFaults: Readonly<Record<string, FaultKind>>;
};

/** The fault that request `number` hits (1 is the first), or undefined. It depends only on the plan and the number. */
export function faultFor(plan: FaultPlan, number: number): FaultKind | undefined {
  const planned = plan.plannedFaults[String(number)];
  if (planned !== undefined) return planned;
  if (drawFor(plan.seed, 'fault', number) >= plan.faults) return undefined;
  return randomFor(plan.seed, 'fault kind', number).pick(plan.faultKinds);
}
