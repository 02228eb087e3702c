import { createLifetimes } from '../records/lifetimes.ts';

type TableOptions = {
  readonly seeded: number;
  readonly idOf: (sequence: number) => string;
  readonly sequenceOf: (id: string) => number | undefined;
  /** Draws a calculation without links to the calculations that refer to it. */
  readonly draw: (sequence: number) => Calculation;
  /** The references of the calculation that `draw` would return, without drawing the whole calculation. */
  readonly references: (sequence: number) => readonly Reference[];
  readonly now: () => number;
};

/** The table of all calculations. */
export type CalculationTable = ReturnType<typeof createCalculationTable>;

/**
 * Creates the table of all calculations that exist now. A calculation is found by the sequence number of its creation
 * or by the digits of its id. Only differences from the drawn records are stored: a million calculations take a few
 * bytes each.
 */
export function createCalculationTable(options: TableOptions) {
  const state = createState(options);
  const { live, at, names, rows, lifetimes } = state;
  return {
    size: () => live.length,
    /** Increases with every change: anything derived from an older version is stale. */
    version: () => state.version,
    get(id: string): Calculation | undefined {
      const sequence = liveSequence(state, id);
      return sequence === undefined ? undefined : at(sequence);
    },
    /** The calculation with this sequence number, even if it was deleted. */
    at,
    /** The sequence numbers of all calculations, in the order of ids. */
    byId: (): readonly number[] => live,
    /**
     * The sequence numbers of all calculations, in the order of names, ignoring case. Equal names are in the order of
     * ids.
     */
    byName: names.sequences,
    /** The JSON of the search row, in UTF-8. */
    row: rows.row,
    add: () => add(state),
    change: (id: string, changes: CalculationChanges) => change(state, id, changes),
    delete: (id: string) => remove(state, id),
    addedAfter: lifetimes.addedAfter,
    /** The ids of the calculations that existed before `fromMs` and still existed after `toMs`, ascending. */
    livedThrough: (fromMs: number, toMs: number): readonly string[] =>
      lifetimes
        .livedThrough(live, fromMs, toMs)
        .sort((a, b) => a - b)
        .map(options.idOf),
  };
}

type State = ReturnType<typeof createState>;

function createState({ seeded, idOf, sequenceOf, draw, references, now }: TableOptions) {
  const live = Array.from({ length: seeded }, (_, sequence) => sequence);
  const changed = new Map<number, CalculationChanges>();
  const referrers = createReferenceIndex(seeded, references);
  const at = (sequence: number): Calculation => {
    const stored = { ...draw(sequence), ...changed.get(sequence) };
    const referrerLinks = referrers
      .referrersOf(stored.id)
      .map(([referrer, valid]): Link => link('FUNCTION_TEMPLATE', idOf(referrer), false, valid));
    return referrerLinks.length === 0 ? stored : { ...stored, links: [...stored.links, ...referrerLinks] };
  };
  return {
    live,
    changed,
    referrers,
    at,
    lifetimes: createLifetimes<number>(),
    rows: createRowCache((sequence) => rowText(at(sequence))),
    names: createNameOrder(
      (sequence) => changed.get(sequence)?.name ?? draw(sequence).name,
      () => live,
    ),
    next: seeded,
    version: 0,
    sequenceOf,
    now,
  };
}

/** Adds a calculation with the next higher id, created now, but never earlier than the previous calculation. */
function add(state: State): Calculation {
  const { live, names, lifetimes, at, now } = state;
  const sequence = state.next;
  const created = Math.max(now(), sequence === 0 ? 0 : at(sequence - 1).created);
  state.next += 1;
  const references = at(sequence).references.filter(({ id }) => liveSequence(state, id) !== undefined);
  updateReferences(state, sequence, [], references);
  const added = put(state, sequence, { created, lastModified: created, references });
  live.push(sequence);
  names.changed(sequence);
  lifetimes.added(sequence, now());
  return added;
}

/** Changes a calculation, and increases `lastModified` by at least 1. Returns undefined if it does not exist. */
function change(state: State, id: string, changes: CalculationChanges): Calculation | undefined {
  const { names, at, now } = state;
  const sequence = liveSequence(state, id);
  if (sequence === undefined) return undefined;
  const lastModified = Math.max(now(), at(sequence).lastModified + 1);
  if (changes.references !== undefined) {
    updateReferences(state, sequence, at(sequence).references, changes.references);
  }
  names.changed(sequence);
  return put(state, sequence, { ...changes, lastModified });
}

function remove(state: State, id: string): boolean {
  const { live, names, rows, lifetimes, now } = state;
  const sequence = liveSequence(state, id);
  if (sequence === undefined) return false;
  updateReferences(state, sequence, state.at(sequence).references, []);
  state.version += 1;
  names.changed(sequence);
  live.splice(live.indexOf(sequence), 1);
  rows.drop(sequence);
  lifetimes.deleted(sequence, now());
  return true;
}

function put(state: State, sequence: number, changes: CalculationChanges): Calculation {
  const { rows, changed, at } = state;
  state.version += 1;
  rows.drop(sequence);
  changed.set(sequence, { ...changed.get(sequence), ...changes });
  return at(sequence);
}

/**
 * Replaces the references of a formula. The rows of the calculations to which it refers, or no longer refers, are
 * printed again, since they have a link to the calculation of the formula.
 */
function updateReferences(
  { referrers, rows, sequenceOf }: State,
  sequence: number,
  before: readonly Reference[],
  after: readonly Reference[],
): void {
  for (const id of referrers.set(sequence, before, after)) {
    const target = sequenceOf(id);
    if (target !== undefined) rows.drop(target);
  }
}

function liveSequence({ sequenceOf, lifetimes, next }: State, id: string): number | undefined {
  const sequence = sequenceOf(id);
  return sequence !== undefined && sequence < next && !lifetimes.isDeleted(sequence) ? sequence : undefined;
}

/** Maximum rows in the cache: a million rows of 700 bytes would be too much. */
const MAX_CACHED_ROWS = 65_536;

function createRowCache(print: (sequence: number) => string) {
  const rows = new Map<number, Uint8Array>();
  return {
    row(sequence: number): Uint8Array {
      const cached = rows.get(sequence);
      if (cached !== undefined) return cached;
      if (rows.size >= MAX_CACHED_ROWS) rows.clear();
      const row = Buffer.from(print(sequence));
      rows.set(sequence, row);
      return row;
    },
    drop: (sequence: number) => void rows.delete(sequence),
  };
}

/** Creates the order of calculations by name. After a change, they are sorted when the order is next read. */
function createNameOrder(nameOf: (sequence: number) => string, live: () => readonly number[]) {
  const lowered: string[] = [];
  let sorted: readonly number[] | undefined;
  const keyOf = (sequence: number) => {
    lowered[sequence] ??= nameOf(sequence).toLowerCase();
    return lowered[sequence];
  };
  return {
    sequences(): readonly number[] {
      sorted ??= live().toSorted((a, b) => compareTexts(keyOf(a), keyOf(b)) || a - b);
      return sorted;
    },
    changed(sequence: number): void {
      sorted = undefined;
      delete lowered[sequence];
    },
  };
}

const compareTexts = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Creates an index that finds the calculations that refer to a calculation. References are read from the formulas once,
 * and updated when a formula changes.
 */
function createReferenceIndex(seeded: number, referencesOf: (sequence: number) => readonly Reference[]) {
  let byTarget: Map<string, Map<number, Link['valid']>> | undefined;

  const add = (
    target: Map<string, Map<number, Link['valid']>>,
    referrer: number,
    references: readonly Reference[],
  ) => {
    for (const { id, valid } of references) {
      const ofId = target.get(id) ?? new Map<number, Link['valid']>();
      target.set(id, ofId.set(referrer, valid));
    }
  };
  const index = () => {
    if (byTarget !== undefined) return byTarget;
    byTarget = new Map();
    for (let sequence = 0; sequence < seeded; sequence += 1) {
      add(byTarget, sequence, referencesOf(sequence));
    }
    return byTarget;
  };

  return {
    /** The sequence numbers of the calculations that refer to this one, ascending, each with its link's `valid`. */
    referrersOf: (id: string) => [...(index().get(id) ?? [])].sort(([a], [b]) => a - b),
    /** Replaces the references of a calculation. Returns the ids in the old and the new references. */
    set(referrer: number, before: readonly Reference[], after: readonly Reference[]): ReadonlySet<string> {
      for (const { id } of before) index().get(id)?.delete(referrer);
      add(index(), referrer, after);
      return new Set([...before, ...after].map(({ id }) => id));
    },
  };
}

/**
 * Where a calculation is saved or used. As on the platform, a FUNCTION_TEMPLATE in a search row is a calculation whose
 * formula refers to this one; the calculations to which its own formula refers are in `functionTemplateDependencies`.
 */
export type Link = {
  readonly resource: { readonly type: 'DATA_SOURCE' | 'CARD' | 'FUNCTION_TEMPLATE'; readonly id: string };
  /** Whether it is a dataset on which the calculation is saved. */
  readonly visible: boolean;
  readonly active: boolean;
  readonly valid: 'VALID' | 'ILLEGAL_REFERENCE' | 'INCOMPATIBLE_LINK';
};

/** A calculation as the sandbox stores it: a search row, and the facts from which it is computed. */
export type Calculation = {
  readonly sequence: number;
  readonly id: string;
  readonly name: string;
  readonly owner: number;
  /** Epoch milliseconds. */
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
  /** The formula, if it was ever set. Otherwise undefined, and the formula is drawn when it is read. */
  readonly expression: string | undefined;
};

/** A reference of a formula to another calculation; ILLEGAL_REFERENCE if that calculation is missing. */
export type Reference = { readonly kind: 'calculation' | 'variable'; readonly id: string } & {
  readonly valid: Link['valid'];
};

type CalculationChanges = Partial<
  Pick<Calculation, 'name' | 'lastModified' | 'created' | 'status' | 'archived' | 'references' | 'expression'>
>;

/** The ids of a calculation's active links, by type, as in the field `activeLinks`. */
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

/** The JSON of a search row: the twelve fields that the platform returns, with the id as an integer with all digits. */
function rowText(calculation: Calculation): string {
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

/** Creates a link, which is active if it is valid. */
export function link(
  type: Link['resource']['type'],
  id: string,
  visible: boolean,
  valid: Link['valid'],
): Link {
  return { resource: { type, id }, visible, active: valid === 'VALID', valid };
}
