import type { LineFitter } from '../../tables/parquet/fit-lines.ts';
import { type Levels, MOST_LEVEL, type NumberLeaf, SHIFTS } from '../../tables/parquet/leaf.ts';
import type { TextColumn, TextLeaf } from '../../tables/parquet/text-leaf.ts';
import { LENGTH_BYTES, plainAt } from '../../tables/parquet/texts.ts';
import { kindNumbers, saidIn, type UsesCollector, VALIDITY } from '../graph/uses-graph.ts';
import {
  eachUseOfLink,
  endOfPlainId,
  type Kind,
  linkTypeOf,
  type Statement,
  statingFields,
  validityIn,
} from '../rules.ts';

/** Reads the places of a leaf in turn. */
type Cursor = { readonly levels: Levels; readonly definition: number; place: number; value: number };

const cursorOf = ({ levels, definition }: Pick<Cursor, 'levels' | 'definition'>): Cursor => ({
  levels,
  definition,
  place: 0,
  value: 0,
});

const NONE = -1;

const hasNext = ({ levels, place }: Cursor): boolean => place < levels.count;

/** Which of its values the leaf has at the next place, or `NONE`. */
function next(cursor: Cursor): number {
  const place = cursor.levels.places[cursor.place] ?? 0;
  cursor.place += 1;
  if ((place & MOST_LEVEL) !== cursor.definition) return NONE;
  cursor.value += 1;
  return cursor.value - 1;
}

/** The texts of a leaf, by the numbers that they have until it is cleared. */
type Texts = Cursor & {
  readonly column: TextColumn;
  /** The node that each names, and 1 more, shifted, and the number of its kind; 0 is not known yet. */
  nodes: Uint32Array;
  /** What it is as the type of a link, and what it says of one. */
  types: (NamedType | undefined)[];
  validities: (number | undefined)[];
};

const KIND_BITS = 3;

/** The number of the text at the next place, or `NONE`. */
function nextText(texts: Texts): number {
  const value = next(texts);
  return value === NONE ? NONE : (texts.column.texts.indexes[value] ?? 0);
}

const textOf = ({ column }: Texts, number: number): string =>
  plainAt(column.texts, number).toString('utf8', LENGTH_BYTES);

/** What links of a type say, stated by a field: without a validity, as a number. */
type NamedType = {
  readonly type: string;
  readonly kind: Kind;
  readonly statedBy: Statement;
  readonly said: number;
  readonly hidden: number;
};

function typeNamed(name: string, statedBy: Statement): NamedType {
  const type = name.toUpperCase();
  const { kind, relation, hidden } = linkTypeOf(type);
  return { type, kind, statedBy, said: saidIn(relation, statedBy), hidden: saidIn(hidden, statedBy) };
}

const TEMPLATE = typeNamed('FUNCTION_TEMPLATE', 'functionTemplateDependencies');
const STATING: ReadonlySet<string> = new Set(statingFields.calculations);

/** The columns that say what calculations use. */
function openColumns({ leaves }: LineFitter, uses: UsesCollector) {
  const leafAt = (path: string) => leaves.find((leaf) => leaf.path.join('.') === path);
  function textsAt(path: string): Texts {
    const { column } = leafAt(path) as TextLeaf;
    return { ...cursorOf(column), column, nodes: new Uint32Array(0), types: [], validities: [] };
  }
  const { values: isVisible } = leafAt('links.list.element.visible') as NumberLeaf;
  const texts = {
    id: textsAt('id'),
    type: textsAt('links.list.element.resource.type'),
    target: textsAt('links.list.element.resource.id'),
    valid: textsAt('links.list.element.valid'),
    activeType: textsAt('activelinks.key_value.key'),
    activeTarget: textsAt('activelinks.key_value.value.list.element'),
    template: textsAt('functiontemplatedependencies.list.element'),
  };
  const { id, ...stating } = texts;
  const [all, others] = [Object.values(texts), Object.values(stating)];
  // Its node, the number of its id, and the nodes that its links name.
  const ofRecord = { own: NONE, ownId: NONE, linked: [] as number[] };
  return { uses, ...texts, visible: cursorOf(isVisible), isVisible, all, others, ...ofRecord };
}

type Columns = ReturnType<typeof openColumns>;

/**
 * Collects uses from the columns of calculations' lines: what a text names is found once for equal ones, and mostly
 * without a string of it. What it returns takes the line that was fitted last, and returns its own node; undefined if the
 * line must be parsed, since what states its uses does not fit its columns, or may differ from what is in them.
 */
export function createColumnUses(fitter: LineFitter, uses: UsesCollector): () => number | undefined {
  const columns = openColumns(fitter, uses);
  const { id, others } = columns;
  let numbers = 0;
  return () => {
    if (id.levels.count === 1) restart(columns);
    // Where a text is an id, the number that is written like it may be none.
    const before = numbers;
    numbers = 0;
    for (let at = 0; at < others.length; at += 1) numbers += others[at]?.column.numbers ?? 0;
    columns.ownId = nextText(id);
    columns.own = columns.ownId === NONE ? NONE : nodeIn(uses, id, columns.ownId, 'calculation');
    if (columns.own === NONE || numbers !== before || fitter.isInOther(STATING)) return skipRow(columns);
    addLinks(columns);
    return columns.own;
  };
}

/** Where the leaves were cleared. */
function restart({ all, visible }: Columns): void {
  for (const cursor of [...all, visible]) cursor.place = cursor.value = 0;
  for (const texts of all) {
    texts.nodes.fill(0);
    texts.types = [];
    texts.validities = [];
  }
}

function skipRow({ all, visible, isVisible }: Columns): undefined {
  for (const cursor of all) cursor.value = cursor.column.texts.count;
  visible.value = isVisible.size;
  for (const cursor of [...all, visible]) cursor.place = cursor.levels.count;
}

function addLinks(columns: Columns): void {
  const { type, target, visible, isVisible, valid, activeType, activeTarget, template } = columns;
  const { uses, linked } = columns;
  let count = 0;
  while (hasNext(type)) {
    const named = nextText(type);
    const number = nextText(target);
    const shown = next(visible);
    const said = nextText(valid);
    if (named === NONE || number === NONE) continue;
    const isHidden = shown !== NONE && isVisible.numbers[shown] === 0;
    const node = add(columns, typeAt(type, named, 'links'), target, number, said, isHidden);
    if (node !== NONE) {
      linked[count] = node;
      count += 1;
    }
  }
  let at = 0;
  for (let named = NONE; hasNext(activeTarget); ) {
    const repetition = (activeTarget.levels.places[activeTarget.place] ?? 0) >> SHIFTS.repetition;
    // Each list of targets has a type.
    if (repetition <= 1) named = nextText(activeType);
    const number = nextText(activeTarget);
    if (named === NONE || number === NONE) continue;
    const typed = typeAt(activeType, named, 'activeLinks');
    // Mostly these are the links again, in their order, and the first that says it counts.
    if (at < count && isNode(uses, linked[at] ?? 0, typed.kind, activeTarget, number)) at += 1;
    else add(columns, typed, activeTarget, number);
  }
  while (hasNext(template)) {
    const number = nextText(template);
    if (number !== NONE) add(columns, TEMPLATE, template, number);
  }
}

function typeAt(texts: Texts, number: number, statedBy: Statement): NamedType {
  texts.types[number] ??= typeNamed(textOf(texts, number), statedBy);
  return texts.types[number];
}

/** True if a text is the id of a node of the kind. */
function isNode(uses: UsesCollector, node: number, kind: Kind, { column }: Texts, number: number): boolean {
  const { starts, bytes, view } = column.texts;
  const at = starts[number] ?? 0;
  const start = at + LENGTH_BYTES;
  return uses.things.isNumberOf(node, bytes, kindNumbers[kind], start, start + view.getInt32(at, true));
}

/**
 * Adds a link whose target is a text with a number. `said`: the number of what it says of itself, or `NONE`. Returns the
 * node of the target; `NONE` if the rules for texts had to say what it names.
 */
function add(
  { uses, valid, own, id, ownId }: Columns,
  named: NamedType,
  target: Texts,
  number: number,
  said = NONE,
  isHidden = false,
): number {
  const node = nodeIn(uses, target, number, named.kind);
  if (node === NONE) {
    const { type, statedBy } = named;
    const validity = said === NONE ? null : validityIn(textOf(valid, said));
    const link = { type, target: textOf(target, number), isHidden, validity, statedBy };
    eachUseOfLink({ kind: 'calculation', id: textOf(id, ownId) }, link, uses.add);
    return NONE;
  }
  let states = isHidden ? named.hidden : named.said;
  if (said !== NONE) {
    valid.validities[said] ??= uses.numberOfValidity(validityIn(textOf(valid, said)));
    states |= valid.validities[said] << VALIDITY;
  }
  if (named.kind === 'card') uses.addEdge(node, own, states);
  else uses.addEdge(own, node, states);
  return node;
}

/** The node that a text names as a thing of a kind; `NONE` if the rules for texts have to say what it names. */
function nodeIn(uses: UsesCollector, of: Texts, number: number, kind: Kind): number {
  const { bytes, view, starts } = of.column.texts;
  const kindNumber = kindNumbers[kind];
  const known = of.nodes[number] ?? 0;
  if (known !== 0 && known % (1 << KIND_BITS) === kindNumber) return (known >>> KIND_BITS) - 1;
  const at = starts[number] ?? 0;
  const start = at + LENGTH_BYTES;
  const end = kind === 'other' ? NONE : endOfPlainId(bytes, start, start + view.getInt32(at, true), kind);
  if (end === NONE) return NONE;
  if (number >= of.nodes.length) {
    const before = of.nodes;
    of.nodes = new Uint32Array(starts.length);
    of.nodes.set(before);
  }
  const node = uses.things.numberOf(bytes, kindNumber, start, end);
  of.nodes[number] = ((node + 1) << KIND_BITS) | kindNumber;
  return node;
}
