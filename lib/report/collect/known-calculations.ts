import { freeMemory } from '../../bytes/free-memory.ts';
import { thing, type Use, usesOf } from '../../model/rules/index.ts';
import { calculationFlags } from '../facts.ts';
import { linksKey, ownFlags, validsIn } from './calculation-traits.ts';
import { type CountedValues, createCountedValues, highest } from './counted-values.ts';
import { grown } from './hashes/grown.ts';
import { createHashList, type HashList, type SortedHashes } from './hashes/hash-list.ts';
import type { RunRecords } from './run-records.ts';
import { enumIn, idIn, type Members, monthIn, NOT_STATED, textIn, timeIn } from './values.ts';

/** What is known of a run of calculations that was read once: some 26 bytes of each, and what they have in common. */
export type KnownCalculations = {
  readonly total: number;
  /** Of each, `calculationFlags`. */
  readonly flags: Uint16Array;
  readonly ids: HashList;
  readonly sortedIds: SortedHashes;
  readonly status: CountedValues;
  readonly owners: CountedValues;
  readonly links: CountedValues;
  /** By `monthIn`. */
  readonly months: ReadonlyMap<number, number>;
};

/** Beyond so many records, room is made when it is needed: a manifest may say anything. */
const MOST_ROOM = 4_000_000;

/** How many are called the oldest. */
const OLDEST = 100;

/** What a calculation's owner is counted under. */
export const ownerOf = (record: Members): string => idIn(record['owner']) ?? NOT_STATED;

/** Reads a run of calculations for the first time; `visit` gets all edges. */
export async function readCalculations(
  run: RunRecords,
  visit: (edge: Use) => void,
): Promise<KnownCalculations> {
  const room = Math.min(MOST_ROOM, Math.max(0, run.manifest.records));
  const [ids, names, links] = [createHashList(room), createHashList(room), createHashList(room)];
  const referred = createHashList();
  const counted = {
    status: createCountedValues(),
    owners: createCountedValues(),
    links: createCountedValues(),
  };
  const months = new Map<number, number>();
  let flags = new Uint16Array(room);
  let modified = new Float64Array(room);
  await run.read((record, number) => {
    const [edges, valids] = [usesOf('calculations', record), validsIn(record)];
    const own = thing('calculation', record['id'])?.id;
    addOrNone(ids, own);
    addOrNone(names, textIn(record['name']));
    addOrNone(links, linksKey(record));
    for (const edge of edges) {
      visit(edge);
      if (edge.relation === 'refers to' && edge.used.id !== own) referred.add(edge.used.id);
    }
    counted.status.add(enumIn(record['status']));
    counted.owners.add(ownerOf(record));
    for (const valid of valids) counted.links.add(valid);
    const time = timeIn(record['lastModified']);
    if (time !== undefined) increment(months, monthIn(time));
    [flags, modified] = [grown(flags, number), grown(modified, number)];
    flags[number] = ownFlags(record, valids, edges);
    // Of times, the oldest is the highest.
    modified[number] = time === undefined ? Number.NEGATIVE_INFINITY : -time;
  });
  const total = ids.length();
  flags = flags.subarray(0, total);
  // One after another, each freed before the next: only the garbage collector would hold them all at once.
  addOldest(flags, modified.subarray(0, total));
  freeMemory(modified);
  addRepeated(flags, names, calculationFlags.sameName);
  addRepeated(flags, links, calculationFlags.sameLinks);
  removeReferred(flags, ids, referred);
  return { total, flags, ids, sortedIds: ids.sorted(), ...counted, months };
}

const addOrNone = (list: HashList, text: string | undefined): void =>
  text === undefined ? list.addNone() : list.add(text);

const increment = (counts: Map<number, number>, value: number): void =>
  void counts.set(value, (counts.get(value) ?? 0) + 1);

function addFlag(flags: Uint16Array, number: number, flag: number): void {
  flags[number] = (flags[number] ?? 0) | flag;
}

function addOldest(flags: Uint16Array, ages: Float64Array): void {
  for (const number of highest(ages, OLDEST))
    if (ages[number] !== Number.NEGATIVE_INFINITY) addFlag(flags, number, calculationFlags.oldest);
}

function addRepeated(flags: Uint16Array, texts: HashList, flag: number): void {
  const sorted = texts.sorted();
  for (let number = 0; number < flags.length; number += 1)
    if (texts.isRepeated(number, sorted)) addFlag(flags, number, flag);
  sorted.free();
  texts.free();
}

/** What another one refers to is used. */
function removeReferred(flags: Uint16Array, ids: HashList, referred: HashList): void {
  const sorted = referred.sorted();
  for (let number = 0; number < flags.length; number += 1)
    if (sorted.hasHash(ids.at(number))) flags[number] = (flags[number] ?? 0) & ~calculationFlags.unused;
  sorted.free();
  referred.free();
}
