import { anyNumberOf, each } from '../../json/inputs.ts';
import type { Fields, SourceDefinition, SourceParts } from './source-definition.ts';

/** Makes a source from its parts, and checks their types against one another. */
export const defineSource = <
  const Name extends string,
  F extends Fields,
  Selection extends object,
  Column extends string,
  const Linked extends string = never,
>(
  parts: SourceParts<Name, F, Linked, Selection, Column>,
): SourceDefinition<Name, F, Linked> => ({
  ...parts,
  fields: parts.fields(each),
  unboundedFields: parts.fields(anyNumberOf),
  openScan: async (selection, run) => parts.openScan(parts.selection.parse(selection), run),
});

/** The members that are not undefined: a selection stores no others. */
export const present = (members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
