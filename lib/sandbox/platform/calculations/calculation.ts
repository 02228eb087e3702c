/**
 * Where a calculation is saved or used. As on the platform, a FUNCTION_TEMPLATE in a search row is a calculation whose
 * formula names this one; what it names itself is in `functionTemplateDependencies`.
 */
export type Link = {
  readonly resource: { readonly type: 'DATA_SOURCE' | 'CARD' | 'FUNCTION_TEMPLATE'; readonly id: string };
  /** True for a dataset that the calculation is saved on. */
  readonly visible: boolean;
  readonly active: boolean;
  readonly valid: 'VALID' | 'ILLEGAL_REFERENCE' | 'INCOMPATIBLE_LINK';
};

/** A calculation as the sandbox stores it: a search row, and what it is based on. */
export type Calculation = {
  readonly sequence: number;
  readonly id: string;
  readonly name: string;
  readonly owner: number;
  readonly lastModified: number;
  /** Epoch milliseconds. */
  readonly created: number;
  readonly global: boolean;
  readonly locked: boolean;
  readonly legacyId: string;
  readonly status: 'VALID' | 'INVALID';
  readonly links: readonly Link[];
  readonly archived: boolean;
  readonly hidden: boolean;
  readonly variable: boolean;
  readonly cacheWindow: 'day' | 'non_dynamic';
  readonly datasetIndex: number | undefined;
  readonly references: readonly Reference[];
  /** The formula if it has been set; otherwise undefined, and it is drawn when read. */
  readonly expression: string | undefined;
};

/** False for one that never had a dataset; a deleted dataset counts. */
export const hasDataset = ({ links }: Pick<Calculation, 'links'>): boolean =>
  links.some(({ resource }) => resource.type === 'DATA_SOURCE');

export type FormulaReference = { readonly kind: 'calculation' | 'variable'; readonly id: string };

/** Another calculation that the formula names, and what is known of it: a missing one is ILLEGAL_REFERENCE. */
export type Reference = FormulaReference & { readonly valid: Link['valid'] };

export type CalculationChanges = Partial<
  Pick<Calculation, 'name' | 'lastModified' | 'created' | 'status' | 'archived' | 'references' | 'expression'>
>;

/** In the form of `activeLinks`. */
export function activeLinksOf(calculation: Calculation): Readonly<Record<string, readonly string[]>> {
  const active: Record<string, string[]> = {};
  for (const link of calculation.links) {
    if (!link.active) continue;
    const ids = active[link.resource.type];
    if (ids === undefined) active[link.resource.type] = [link.resource.id];
    else ids.push(link.resource.id);
  }
  return active;
}

/** The JSON of a search row: the twelve fields of contract 4.2, with the id as an integer with all its digits. */
export function rowText(calculation: Calculation): string {
  const { name, owner, lastModified, created, global, locked, legacyId, status, links, archived } =
    calculation;
  const activeLinks = activeLinksOf(calculation);
  const rest = {
    name,
    owner,
    lastModified,
    created,
    global,
    locked,
    legacyId,
    status,
    links,
    archived,
    activeLinks,
  };
  return `{"id":${calculation.id},${JSON.stringify(rest).slice(1)}`;
}

export function link(
  type: Link['resource']['type'],
  id: string,
  visible: boolean,
  valid: Link['valid'],
): Link {
  return { resource: { type, id }, visible, active: valid === 'VALID', valid };
}
