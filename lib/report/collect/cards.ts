import { asText, peopleOf, type RowGroup, type Things } from '../../model/index.ts';
import { canonicalId } from '../../model/rules/index.ts';
import { type CardFacts, cardFlags } from '../facts.ts';
import { createCountedValues } from './counted-values.ts';
import { createDistinctTexts } from './distinct-texts.ts';
import { heldGroups } from './held-groups.ts';
import { createChoice, createFlagCounts } from './listed.ts';
import type { Shown, ThingsToShow } from './things-to-show.ts';
import { NOT_STATED, shownText } from './values.ts';

const MODEL_BITS = cardFlags.missing_target | cardFlags.affected;

/** A card that is listed. */
type Row = {
  readonly node: number;
  readonly flags: number;
  readonly title: string;
  readonly type: string;
  readonly owners: readonly string[];
  readonly dataset: string;
};

/** Counts the cards of the model, and lists them. A card that several datasets list is as its first record says. */
export async function readCards(options: ThingsToShow): Promise<Shown<CardFacts>> {
  const { model, columns, recordsOf, limits, signal } = options;
  const { things, cards: nodes } = model;
  const [source, records] = [columns.cards, recordsOf('cards')];
  const counted = { type: createCountedValues(), chartType: createCountedValues() };
  const counts = createFlagCounts(cardFlags);
  const isListed = createChoice(nodes.length, Object.values(cardFlags), limits);
  const listed: Row[] = [];
  let place = 0;
  for await (const { group, rows } of heldGroups({ source, kind: 'card', things, nodes, records, signal })) {
    const type = await group.texts('type', (utf8) => counted.type.numberOf(asText(utf8)));
    const chartType = await group.texts('charttype', (utf8) => counted.chartType.numberOf(asText(utf8)));
    const access = await group.values('access');
    const wanted: { readonly row: number; readonly node: number; readonly flags: number }[] = [];
    for (const row of rows) {
      const node = nodes[place] ?? 0;
      const own = access[row] === false ? cardFlags.without_access : 0;
      const flags = ((model.flags[node] ?? 0) & MODEL_BITS) | own;
      counted.type.add(type[row]);
      counted.chartType.add(chartType[row]);
      counts.add(flags);
      if (isListed(flags)) wanted.push({ row, node, flags });
      place += 1;
    }
    if (wanted.length === 0) continue;
    const saidBy = await readSaid(group);
    for (const { row, ...each } of wanted) listed.push({ ...each, ...saidBy(row) });
  }
  const total = nodes.length;
  const list = { total, isWhole: listed.length === total, columns: columnsOf(listed, things) };
  const said = { type: counted.type.counts(), chartType: counted.chartType.counts(), flags: counts.counts };
  return { facts: { total, ...said, list }, nodes: listed.map(({ node }) => node) };
}

function columnsOf(rows: readonly Row[], { thingAt }: Things): CardFacts['list']['columns'] {
  const { texts, positionOf } = createDistinctTexts();
  return {
    id: rows.map(({ node }) => shownText(thingAt(node).id)),
    title: rows.map(({ title }) => title),
    type: rows.map(({ type }) => positionOf(type)),
    owners: rows.map(({ owners }) => owners.map(positionOf)),
    dataset: rows.map(({ dataset }) => positionOf(dataset)),
    texts,
    flags: rows.map(({ flags }) => flags),
  };
}

async function readSaid(group: RowGroup) {
  const title = await group.texts('title', asText);
  const type = await group.texts('type', asText);
  const owner = await group.texts('ownerid', (utf8) => canonicalId(asText(utf8)));
  const people = await group.values('owners');
  const datasource = await group.texts('datasourceid', (utf8) => canonicalId(asText(utf8)));
  const dataset = await group.texts('_datasetid', (utf8) => canonicalId(asText(utf8)));
  return (row: number) => ({
    title: shownText(title[row] ?? ''),
    type: shownText(type[row] || NOT_STATED),
    owners: [...new Set([owner[row], ...peopleOf(people[row]).map(({ id }) => canonicalId(id))])].flatMap(
      (id) => (id == null ? [] : shownText(id)),
    ),
    dataset: shownText(datasource[row] ?? dataset[row] ?? ''),
  });
}
