import { thing, thingKey, type Use, usesOf } from '../../model/rules/index.ts';
import type { CardFacts } from '../facts.ts';
import { type CountedValues, createCountedValues } from './counted-values.ts';
import { createDistinctTexts } from './distinct-texts.ts';
import type { EdgeSink } from './edge-sink.ts';
import { grown } from './hashes/grown.ts';
import { createHashIndex } from './hashes/hash-index.ts';
import type { ListLimits } from './list-limits.ts';
import type { Places } from './places.ts';
import type { RunRecords } from './run-records.ts';
import { idIn, listIn, type Members, membersOf, NOT_STATED, shownText, textIn } from './values.ts';

/** A run of cards that was read once. A card that several datasets list is one card, as its first record says. */
export type CountedCards = {
  readonly places: Places;
  readonly list: (sink: EdgeSink) => Promise<CardFacts>;
};

/** Reads a run of cards; `visit` gets each edge once. */
export async function countCards(
  run: RunRecords,
  visit: (edge: Use) => void,
  { whole, top }: ListLimits,
): Promise<CountedCards> {
  const ids = createHashIndex();
  const pairs = createHashIndex();
  const counted = {
    type: createCountedValues(),
    chartType: createCountedValues(),
    owners: createCountedValues(),
  };
  let isFirst = new Uint8Array(0);
  /** How many cards come before each, by the number of its id. */
  let before = new Uint32Array(0);
  let [total, withoutAccess] = [0, 0];
  await run.read((card, number) => {
    for (const edge of usesOf('cards', card)) {
      // A card that several datasets list says the same more than once.
      const known = pairs.size();
      if (pairs.add(`${edge.user.id} ${thingKey(edge.used)}`) === known) visit(edge);
    }
    const id = thing('card', card['id'])?.id;
    if (id !== undefined && ids.find(id) !== undefined) return;
    isFirst = grown(isFirst, number);
    isFirst[number] = 1;
    if (id !== undefined) {
      const at = ids.add(id);
      before = grown(before, at);
      before[at] = total;
    }
    total += 1;
    for (const name of NAMES) counted[name].add(fieldIn[name](card));
    if (card['access'] === false) withoutAccess += 1;
  });
  const listed = total <= whole ? total : Math.min(total, top);
  const places: Places = {
    listed,
    placeOf(id) {
      const at = ids.find(id);
      if (at === undefined) return undefined;
      const place = before[at] ?? 0;
      return place < listed ? place : 'unlisted';
    },
  };
  const known = { counted, isFirst, listed, total, withoutAccess, isWhole: total <= whole };
  return { places, list: (sink) => listCards(run, known, sink) };
}

type Value = 'type' | 'chartType' | 'owners';

type KnownCards = {
  readonly counted: Readonly<Record<Value, CountedValues>>;
  /** 1 for the first record of each card. */
  readonly isFirst: Uint8Array;
  readonly listed: number;
  readonly total: number;
  readonly withoutAccess: number;
  readonly isWhole: boolean;
};

async function listCards(run: RunRecords, known: KnownCards, sink: EdgeSink): Promise<CardFacts> {
  const { counted, isFirst, listed, total, withoutAccess, isWhole } = known;
  const isUnnamed = NAMES.map((name) => counted[name].choose()).includes(true);
  const { texts, positionOf } = createDistinctTexts();
  const columns = {
    id: [] as string[],
    title: [] as string[],
    type: [] as number[],
    owner: [] as number[],
    dataset: [] as number[],
    texts,
    withoutAccess: [] as number[],
  };
  const wants = () => isUnnamed || isWhole || columns.id.length < listed || sink.isWanting();
  await run.read((card, number) => {
    if (isUnnamed) for (const name of NAMES) counted[name].name(fieldIn[name](card));
    // A card may stand in the lists of several datasets: all of them are its edges.
    if (isWhole || columns.id.length < listed) sink.listed(usesOf('cards', card));
    else if (sink.isWanting()) sink.other(usesOf('cards', card));
    if (isFirst[number] !== 1 || columns.id.length >= listed) return;
    if (card['access'] === false) columns.withoutAccess.push(columns.id.length);
    columns.id.push(shownText(thing('card', card['id'])?.id ?? ''));
    columns.title.push(shownText(textIn(card['title']) ?? ''));
    columns.type.push(positionOf(shownText(fieldIn.type(card))));
    columns.owner.push(positionOf(shownText(fieldIn.owners(card))));
    columns.dataset.push(
      positionOf(shownText(textIn(card['datasourceId']) ?? textIn(card['_datasetId']) ?? '')),
    );
  }, wants);
  return {
    total,
    type: counted.type.counts(),
    chartType: counted.chartType.counts(),
    owners: counted.owners.counts(),
    withoutAccess,
    list: { total, isWhole, columns },
  };
}

const fieldIn = {
  type: ({ type }: Members) => textIn(type) ?? NOT_STATED,
  chartType: ({ chartType }: Members) => textIn(chartType) ?? NOT_STATED,
  owners: ownerOf,
} as const satisfies Record<Value, (card: Members) => string>;

const NAMES = Object.keys(fieldIn) as readonly Value[];

/** The name of a card's owner, or else the id. */
function ownerOf({ ownerId, owners }: Members): string {
  const id = idIn(ownerId);
  const named = listIn(owners).map(membersOf);
  const owner =
    named.find((each) => id !== undefined && idIn(each['id']) === id) ??
    (id === undefined ? named[0] : undefined);
  return textIn(owner?.['displayName']) ?? id ?? NOT_STATED;
}
