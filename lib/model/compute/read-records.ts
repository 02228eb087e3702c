import { growing } from '../../bytes/growing.ts';
import { createNumberedTexts, type NumberedTexts } from '../columns/numbered-texts.ts';
import { asBytes, asText, type RowGroup } from '../columns/read-columns.ts';
import { isPlain, type Things } from '../graph/things.ts';
import { isInvalid } from '../rules/index.ts';
import { groupsOf, type SourceColumns } from './columns-of.ts';
import type { Owners } from './owners.ts';

/** The calculations of a model, a place each in the order of their first records. */
export type HeldCalculations = {
  readonly nodes: Uint32Array;
  /** 1 for those whose own status is not VALID in any of their records. */
  readonly isInvalid: Uint8Array;
  /** The number of the name of each, and 1 more: 0 is none. */
  readonly names: Uint32Array;
  readonly spellings: Spellings;
};

/** Ids of records that are not written as canonical ones are, with their nodes. */
export type Spellings = ReadonlyMap<string, number>;

/** Numbers the calculations of a source, and counts what their owners have. */
export async function readCalculations(
  source: SourceColumns | undefined,
  things: Things,
  owners: Owners,
): Promise<HeldCalculations> {
  const texts = createNumberedTexts();
  const held = createHeld(things, 'calculation');
  const [isBad, names] = [growing(Uint8Array), growing(Uint32Array)];
  for await (const group of groupsOf(source, 'records')) {
    const status = await group.texts('status', (utf8) => isInvalid(asText(utf8)));
    const name = await group.texts('name', numberIn(texts));
    const owner = await group.texts('owner', owners.byText);
    const locked = await group.values('locked');
    const modified = await group.values('lastmodified');
    await held.add(group, (row, node, isFirst) => {
      if (isFirst) {
        isBad.push(status[row] === true ? 1 : 0);
        names.push(name[row] ?? 0);
        owners.add(owner[row] ?? undefined, 'calculations', node);
        owners.addTraits(owner[row] ?? undefined, locked[row] === true, millisecondsIn(modified[row]));
      } else if (status[row] === true) isBad.set(held.placeOf(node), 1);
    });
  }
  texts.free();
  return { nodes: held.nodes(), isInvalid: isBad.values(), names: names.values(), spellings: held.spellings };
}

/** Numbers the cards of a source, and counts what their owners have. A card may stand in the lists of several datasets. */
export async function readCards(
  source: SourceColumns | undefined,
  things: Things,
  owners: Owners,
): Promise<{ readonly nodes: Uint32Array; readonly spellings: Spellings }> {
  const held = createHeld(things, 'card');
  for await (const group of groupsOf(source, 'records')) {
    const owner = await group.texts('ownerid', owners.byText);
    const people = await group.values('owners');
    await held.add(group, (row, node, isFirst) => {
      if (!isFirst) return;
      const named = peopleOf(people[row]).map(({ id, displayname }) => {
        const user = owners.byValue(id);
        owners.name(user, displayname);
        return user;
      });
      for (const user of new Set([owner[row] ?? undefined, ...named])) owners.add(user, 'cards', node);
    });
  }
  return { nodes: held.nodes(), spellings: held.spellings };
}

/** Counts the records of a source by the user in a column. */
export async function readOwned(
  source: SourceColumns | undefined,
  owners: Owners,
  { column, what }: { readonly column: string; readonly what: 'files' | 'data_files' },
): Promise<void> {
  for await (const group of groupsOf(source, 'records')) {
    const owner = await group.texts(column, owners.byText);
    for (let row = 0; row < group.rows; row += 1) owners.add(owner[row] ?? undefined, what);
  }
}

/** Gives each thing of a kind a place the first time that a record of it comes. */
function createHeld(things: Things, kind: 'calculation' | 'card') {
  const nodes = growing(Uint32Array);
  // By node: its place, and 1 more.
  const places = growing(Uint32Array);
  const spellings = new Map<string, number>();
  return {
    nodes: nodes.values,
    spellings,
    placeOf: (node: number) => places.at(node) - 1,
    async add(group: RowGroup, see: (row: number, node: number, isFirst: boolean) => void): Promise<void> {
      const ids = await group.texts('id', asBytes);
      for (let row = 0; row < group.rows; row += 1) {
        const node = things.nodeOfId(kind, ids[row] ?? NOTHING);
        if (node === undefined) continue;
        if (!isPlain(ids[row] ?? NOTHING)) {
          const text = asText(ids[row] ?? NOTHING);
          if (text !== things.thingAt(node).id) spellings.set(text, node);
        }
        while (places.length() <= node) places.push(0);
        const isFirst = places.at(node) === 0;
        if (isFirst) {
          nodes.push(node);
          places.set(node, nodes.length());
        }
        see(row, node, isFirst);
      }
    },
  };
}

const NOTHING = new Uint8Array(0);

const numberIn = (texts: NumberedTexts) => (utf8: Uint8Array) =>
  utf8.length === 0 ? 0 : texts.numberOf(utf8) + 1;

const millisecondsIn = (value: unknown): number | undefined =>
  typeof value === 'bigint' ? Number(value) : undefined;

type Person = { readonly id?: unknown; readonly displayname?: unknown };

/** The owners of a card that are no groups. */
export const peopleOf = (value: unknown): readonly Person[] =>
  (Array.isArray(value) ? value : []).filter(
    (each) => typeof each === 'object' && each !== null && String(each.type).toUpperCase() !== 'GROUP',
  );
