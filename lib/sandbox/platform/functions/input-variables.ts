import type { FunctionInput } from './code-package.ts';
import { actualTypeOf, formatActualType, formatDeclaredType, matchesType } from './types.ts';

/** The arguments in the order of the declaration, or every fault in the variables, one text each. */
export type BoundInputs =
  | { readonly kind: 'bound'; readonly values: readonly unknown[] }
  | { readonly kind: 'faulty'; readonly faults: readonly string[] };

/**
 * Checks named variables against the declared inputs. A nullable input that is left out is null; an undeclared variable
 * is a fault. Faults name variables and types, never values.
 */
export function bindInputs(
  inputs: readonly FunctionInput[],
  variables: Readonly<Record<string, unknown>>,
): BoundInputs {
  const given = new Map(Object.entries(variables));
  const unknownNames = [...given.keys()].filter((name) => !inputs.some((input) => input.name === name));
  const faults = [
    ...inputs.flatMap((input) => faultOf(input, given)),
    ...unknownNames.map((name) => `${name}: not an input of this function`),
  ];
  if (faults.length > 0) return { kind: 'faulty', faults };
  return { kind: 'bound', values: inputs.map(({ name }) => given.get(name) ?? null) };
}

function faultOf(input: FunctionInput, given: ReadonlyMap<string, unknown>): string[] {
  const value = given.get(input.name) ?? null;
  if (matchesType(value, input)) return [];
  const got = given.has(input.name) ? formatActualType(actualTypeOf(value)) : 'nothing';
  return [`${input.name}: expected ${formatDeclaredType(input)}, got ${got}`];
}
