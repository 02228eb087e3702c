import fc from 'fast-check';
import { createDice } from '../dice.ts';
import { mutate } from './mutate.ts';
import { reduce } from './reduce.ts';
import { type Finding, type FuzzTarget, tryInput } from './target.ts';

export type FuzzOptions = {
  readonly seed: number;
  /** Maximum number of inputs to try. */
  readonly runs: number;
  /** Whether to stop, called before each input. Default: stop only after `runs`. */
  readonly isOver?: (() => boolean) | undefined;
  /** Inputs to mutate from the beginning, such as past findings. */
  readonly corpus?: readonly unknown[];
  /** Called before each input, so that another thread knows the input if this one hangs. */
  readonly onInput?: ((input: unknown) => void) | undefined;
};

export type FuzzReport = {
  readonly executions: number;
  /** How often each kind of outcome was seen. */
  readonly outcomes: ReadonlyMap<string, number>;
  /** The first property that did not hold, with the smallest input that breaks it. */
  readonly found?: { readonly finding: Finding; readonly input: unknown };
};

/** Number of inputs generated together: fast-check makes the first inputs of a seed smaller than later ones. */
const BATCH = 50;
/** Percent of the inputs that are mutations of earlier ones. */
const MUTATED = 50;

/**
 * Tries inputs until one breaks a property: newly generated inputs, and mutations of inputs that led to a new kind
 * of outcome. The same seed tries the same inputs.
 */
export async function fuzz(target: FuzzTarget, options: FuzzOptions): Promise<FuzzReport> {
  const { seed, runs, isOver = () => false, corpus = [], onInput = () => undefined } = options;
  const dice = createDice(seed);
  const outcomes = new Map<string, number>();
  const interesting = [...corpus];
  let batch: readonly unknown[] = [];
  let run = 0;
  for (; run < runs && !isOver(); run += 1) {
    if (run % BATCH === 0) batch = fc.sample(target.inputs, { seed: seed + run, numRuns: BATCH });
    const fresh = batch[run % BATCH];
    const input =
      interesting.length > 0 && dice.percent(MUTATED)
        ? mutate(dice.pick(interesting), { dice, tokens: target.tokens, other: fresh })
        : fresh;
    onInput(input);
    const tried = await tryInput(target, input);
    if (tried.kind === 'finding') {
      const smallest = await reduce(input, (candidate) => breaksAgain(target, candidate, tried.finding));
      const again = await tryInput(target, smallest);
      const finding = again.kind === 'finding' ? again.finding : tried.finding;
      return { executions: run + 1, outcomes, found: { finding, input: smallest } };
    }
    if (tried.kind === 'not-an-input') continue;
    if (!outcomes.has(tried.outcome) && interesting.length < MAX_INTERESTING) interesting.push(input);
    outcomes.set(tried.outcome, (outcomes.get(tried.outcome) ?? 0) + 1);
  }
  return { executions: run, outcomes };
}

const MAX_INTERESTING = 1_000;

async function breaksAgain(target: FuzzTarget, candidate: unknown, { property }: Finding): Promise<boolean> {
  const tried = await tryInput(target, candidate);
  return tried.kind === 'finding' && tried.finding.property === property;
}
