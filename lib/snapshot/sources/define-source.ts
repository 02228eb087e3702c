import { anyNumberOf, each } from '../../base/index.ts';
import type { Fields, SourceData, SourceDefinition, SourceParts } from './source-definition.ts';

/** Makes a source from its data and its other parts, and checks their types against one another. */
export const defineSource = <
  const Name extends string,
  F extends Fields,
  Selection extends object,
  Column extends string,
  const Linked extends string = never,
>(
  data: SourceData<Name, F, Linked, Selection, Column>,
  parts: SourceParts<NoInfer<F>, NoInfer<Selection>, NoInfer<Column>>,
): SourceDefinition<Name, F, Linked> => ({
  ...data,
  ...parts,
  fields: data.fields(each),
  unboundedFields: data.fields(anyNumberOf),
  openScan: async (selection, run) => parts.openScan(data.selection.parse(selection), run),
});

/** The members that are not undefined: a selection stores no others. */
export const present = (members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
