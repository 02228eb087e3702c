import { inspect } from 'node:util';
import type fc from 'fast-check';
import type * as z from 'zod/mini';

/** Code to fuzz: how its inputs are generated, and what must hold for each of them. */
export type FuzzTarget = {
  readonly name: string;
  /** Inputs, as JSON: mostly valid ones, and ones with structured faults. */
  readonly inputs: fc.Arbitrary<unknown>;
  /** Pieces of text with a meaning to the code, which mutations insert. */
  readonly tokens: readonly string[];
  /** Returns the kind of outcome in a few words. Throws `Finding` if a property does not hold. */
  readonly check: (input: unknown) => Promise<string>;
  /** Releases what the target opened. */
  readonly close?: () => Promise<void>;
};

/** A property that does not hold. `property` is its name: the reduced input must break the same property. */
export class Finding extends Error {
  override readonly name = 'Finding';
  readonly property: string;

  constructor(property: string, detail: string, options?: ErrorOptions) {
    super(`${property}: ${detail.slice(0, 2_000)}`, options);
    this.property = property;
  }
}

/** A mutation produced a value that does not fit the target's schema. */
class NotAnInputError extends Error {
  override readonly name = 'NotAnInputError';
}

/** Throws a finding unless the property holds. */
export function must(holds: boolean, property: string, detail: () => string): asserts holds {
  if (!holds) throw new Finding(property, detail());
}

type TargetOf<Input> = Omit<FuzzTarget, 'inputs' | 'check'> & {
  readonly schema: z.ZodMiniType<Input>;
  readonly inputs: fc.Arbitrary<Input>;
  readonly check: (input: Input) => string | Promise<string>;
};

/** Defines a target whose inputs fit a schema. */
export const defineTarget = <Input>({ schema, check, ...rest }: TargetOf<Input>): FuzzTarget => ({
  ...rest,
  async check(given) {
    const input = schema.safeParse(given);
    if (!input.success) throw new NotAnInputError(input.error.message);
    return check(input.data);
  },
});

export type Tried =
  | { readonly kind: 'outcome'; readonly outcome: string }
  | { readonly kind: 'finding'; readonly finding: Finding }
  | { readonly kind: 'not-an-input' };

/** Maximum CPU time of this thread for one input, including garbage collection and first compilation. */
const MAX_CPU_MS = 3_000;
/** Maximum elapsed time for one input, even on a busy machine. */
const MAX_WALL_MS = 60_000;

/** Checks one input, including its CPU time, its elapsed time and what it throws. It cannot end a loop that never yields. */
export async function tryInput(target: FuzzTarget, input: unknown): Promise<Tried> {
  const before = process.threadCpuUsage();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Finding('ends', `nothing came within ${MAX_WALL_MS} ms`)),
    MAX_WALL_MS,
  );
  try {
    const outcome = await Promise.race([target.check(input), late.promise]);
    const { user, system } = process.threadCpuUsage(before);
    const cpuMs = (user + system) / 1_000;
    if (cpuMs <= MAX_CPU_MS) return { kind: 'outcome', outcome };
    return { kind: 'finding', finding: new Finding('time', `took ${Math.round(cpuMs)} ms of CPU`) };
  } catch (error) {
    if (error instanceof NotAnInputError) return { kind: 'not-an-input' };
    if (error instanceof Finding) return { kind: 'finding', finding: error };
    const finding = new Finding('throws only its own errors', inspect(error), { cause: error });
    return { kind: 'finding', finding };
  } finally {
    clearTimeout(timer);
  }
}
