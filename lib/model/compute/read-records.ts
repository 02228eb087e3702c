import { freeMemory, growing } from '../../base/index.ts';
import { createNumberedTexts } from '../columns/numbered-texts.ts';
import { asText, type RowGroup, rowGroupsOf } from '../columns/read-columns.ts';
import type { UsesCollector } from '../graph/uses-graph.ts';
import { canonicalId, isInvalid } from '../rules.ts';
import { groupsOf, type SourceColumns } from '../stored/runs.ts';
import type { Owners } from './owners.ts';

/** The things that a source has records of, in the order of their first records. */
export type HeldThings = {
  readonly nodes: Uint32Array;
  /** Which record of the source is the first of each, from 0. */
  readonly rows: Uint32Array;
  /** Ids of records that are not written as canonical ones are, with their nodes. */
  readonly spellings: readonly (readonly [id: string, node: number])[];
};

export type ReadCalculations = {
  readonly held: HeldThings;
  /** 1 for those whose own status is not VALID in any of their records. */
  readonly isInvalid: Uint8Array;
  /** The number of the name of each, and 1 more: 0 is none. */
  readonly names: Uint32Array;
};

/** Collects what calculations use, and counts what their owners have. */
export async function readCalculations(
  source: SourceColumns | undefined,
  uses: UsesCollector,
  owners: Owners,
): Promise<ReadCalculations> {
  const texts = createNumberedTexts();
  const numberOf = (utf8: Uint8Array) => (utf8.length === 0 ? 0 : texts.numberOf(utf8) + 1);
  const [isBad, names] = [growing(Uint8Array), growing(Uint32Array)];
  const held = await readHeld(source, uses, (group) => {
    const status = group.texts('status', (utf8) => isInvalid(asText(utf8)));
    const name = group.texts('name', numberOf);
    const owner = group.texts('owner', userOf);
    const locked = group.values('locked');
    const modified = group.values('lastmodified');
    return (row, place, node) => {
      if (place < isBad.length()) {
        if (status(row) === true) isBad.set(place, 1);
        return;
      }
      isBad.push(status(row) === true ? 1 : 0);
      names.push(name(row) ?? 0);
      const user = owner(row) ?? undefined;
      if (user === undefined) return;
      const counts = owners.add(user, 'calculations', node);
      if (locked(row) === true) counts.locked += 1;
      const time = modified(row);
      if (typeof time === 'bigint')
        counts.oldest_modified = Math.min(counts.oldest_modified ?? Number(time), Number(time));
    };
  });
  freeMemory(texts.pack().bytes);
  return { held, isInvalid: isBad.values(), names: names.values() };
}

/** Collects what cards use, and counts what their owners have. A card may stand in the lists of several datasets. */
export function readCards(
  source: SourceColumns | undefined,
  uses: UsesCollector,
  owners: Owners,
): Promise<HeldThings> {
  let count = 0;
  return readHeld(source, uses, (group) => {
    const owner = group.texts('ownerid', userOf);
    const people = peopleIn(group);
    return (row, place, node) => {
      if (place < count) return;
      count += 1;
      const named = people(row).flatMap(({ id, name }) => {
        const user = canonicalId(id);
        if (user !== undefined && name) owners.of(user).name ??= name;
        return user ?? [];
      });
      for (const user of new Set([owner(row) ?? [], named].flat())) owners.add(user, 'cards', node);
    };
  });
}

/** The owners of each card that are no groups. */
function peopleIn(group: RowGroup) {
  const read = (name: string) => group.lists(`owners.list.element.${name}`);
  const [ids, names, types] = [read('id'), read('displayname'), read('type')];
  return (row: number) => {
    const [name, type] = [names(row), types(row)];
    return ids(row).flatMap((id, at) =>
      type[at]?.toUpperCase() === 'GROUP' ? [] : { id, name: name[at] ?? null },
    );
  };
}

export async function readOwned(
  source: SourceColumns | undefined,
  owners: Owners,
  { column, what }: { readonly column: string; readonly what: 'files' | 'data_files' },
): Promise<void> {
  for await (const { group } of groupsOf(source)) {
    const owner = group.texts(column, userOf);
    for (let row = 0; row < group.rows; row += 1) {
      const user = owner(row) ?? undefined;
      if (user !== undefined) owners.of(user)[what] += 1;
    }
  }
}

/** Takes a record: its row, the place of its thing among all, which is a new one if it is the first, and the node. */
type SeeRecord = (row: number, place: number, node: number) => void;

async function readHeld(
  source: SourceColumns | undefined,
  collector: UsesCollector,
  open: (group: RowGroup) => SeeRecord,
): Promise<HeldThings> {
  const [nodes, rows] = [growing(Uint32Array), growing(Uint32Array)];
  // By node: its place, and 1 more.
  const places = growing(Uint32Array);
  const spellings = new Map<string, number>();
  let start = 0;
  for (const part of source?.parts ?? []) {
    const uses = await part.uses();
    if (uses === undefined) continue;
    const numbers = collector.addPacked(uses);
    const nodeAt = (record: number) => numbers[(uses.own[record] ?? 0) - 1];
    let record = 0;
    for await (const group of rowGroupsOf(part.key, await part.records())) {
      const see = open(group);
      for (let row = 0; row < group.rows; row += 1, record += 1) {
        const node = nodeAt(record);
        if (node === undefined) continue;
        while (places.length() <= node) places.push(0);
        if (places.at(node) === 0) {
          nodes.push(node);
          rows.push(start + record);
          places.set(node, nodes.length());
        }
        see(row, places.at(node) - 1, node);
      }
    }
    for (const [at, spelling] of uses.spellings) {
      const node = nodeAt(at);
      if (node !== undefined) spellings.set(spelling, node);
    }
    freeMemory(uses.user);
    start += part.count;
  }
  places.free();
  return { nodes: nodes.values(), rows: rows.values(), spellings: [...spellings] };
}

const userOf = (utf8: Uint8Array) => canonicalId(asText(utf8));
