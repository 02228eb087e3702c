import type fc from 'fast-check';
import type * as z from 'zod/mini';

/** One thing that is fuzzed: how its inputs are made, and what must hold for each of them. */
export type FuzzTarget = {
  readonly name: string;
  /** Inputs, as JSON: mostly valid ones, and ones with structured faults. */
  readonly inputs: fc.Arbitrary<unknown>;
  /** Pieces of text that mean something to the code: mutations put them in. */
  readonly tokens: readonly string[];
  /** What happened, in a few words; equal words are one kind of outcome. Throws `Finding` if a property does not hold. */
  readonly check: (input: unknown) => Promise<string>;
  /** Releases what the target opened. */
  readonly close?: () => Promise<void>;
};

/** A property does not hold. `property` is its name: the reduced input must break the same one. */
export class Finding extends Error {
  override readonly name = 'Finding';
  readonly property: string;

  constructor(property: string, detail: string, options?: ErrorOptions) {
    super(`${property}: ${detail.slice(0, 2_000)}`, options);
    this.property = property;
  }
}

/** A mutation made something that is not an input of the target at all. */
export class NotAnInputError extends Error {
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

/** A target whose inputs fit a schema. */
export const defineTarget = <Input>({ schema, check, ...rest }: TargetOf<Input>): FuzzTarget => ({
  ...rest,
  async check(given) {
    const input = schema.safeParse(given);
    if (!input.success) throw new NotAnInputError(input.error.message);
    return check(input.data);
  },
});
