import { asText, HELD, type RowGroup, type UsesGraph } from '../../model/index.ts';
import { canonicalId } from '../../model/rules/index.ts';
import { type CalculationFacts, type CalculationFlag, calculationFlags } from '../facts.ts';
import { createCountedValues } from './counted-values.ts';
import { createDistinctTexts } from './distinct-texts.ts';
import { heldGroups } from './held-groups.ts';
import { createLargest } from './largest.ts';
import { createChoice, createFlagCounts } from './listed.ts';
import type { Shown, ThingsToShow } from './things-to-show.ts';
import { NOT_STATED, shownText } from './values.ts';

/** How many are called the oldest. */
const OLDEST = 100;

/** Bits that so many calculations have that nobody looks for those that have them. */
const UNLISTED: readonly CalculationFlag[] = ['global', 'hidden', 'oldest'];
const LISTED = Object.entries(calculationFlags).flatMap(([name, bit]) =>
  UNLISTED.some((each) => each === name) ? [] : bit,
);

/** A calculation that is listed, or may be. */
type Row = {
  readonly node: number;
  readonly place: number;
  /** In its row group. */
  readonly row: number;
  flags: number;
  readonly modified: number | null;
  said: {
    readonly name: string;
    readonly owner: string;
    readonly status: string;
    readonly created: number | null;
  };
};

const NOTHING_SAID = { name: '', owner: '', status: '', created: null };

/** Counts the calculations of the model, and lists them. */
export async function readCalculations(options: ThingsToShow): Promise<Shown<CalculationFacts>> {
  const { model, columns, recordsOf, limits, signal } = options;
  const { things, calculations: nodes } = model;
  const [source, records] = [columns.calculations, recordsOf('calculations')];
  const [statuses, months] = [createCountedValues(), createMonths()];
  const counts = createFlagCounts(calculationFlags);
  const oldest = createLargest<Row>(OLDEST);
  const isListed = createChoice(nodes.length, LISTED, limits);
  const listed: Row[] = [];
  let place = 0;
  const held = heldGroups({ source, kind: 'calculation', things, nodes, records, signal });
  for await (const { group, rows } of held) {
    const own = await readOwn(group);
    const status = await group.texts('status', (utf8) => statuses.numberOf(asText(utf8).toUpperCase()));
    const modified = await group.values('lastmodified_at');
    const before = place;
    const wanted: Row[] = [];
    for (const row of rows) {
      const node = nodes[place] ?? 0;
      const flags = ((model.flags[node] ?? 0) & ~HELD) | own(row);
      const at = timeAt(modified, row);
      statuses.add(status[row]);
      counts.add(flags);
      const isChosen = isListed(flags);
      if (isChosen || (at !== null && oldest.mayAdd(-at))) {
        const each: Row = { node, place, row, flags, modified: at, said: NOTHING_SAID };
        if (isChosen) wanted.push(each);
        if (at !== null) oldest.add(-at, each);
      }
      if (at !== null) months.add(at);
      place += 1;
    }
    listed.push(...wanted);
    const old = oldest.values().filter((each) => each.place >= before);
    if (wanted.length + old.length > 0) await readSaid(group, new Set([...wanted, ...old]));
  }
  for (const row of oldest.values()) {
    row.flags |= calculationFlags.oldest;
    counts.add(calculationFlags.oldest);
  }
  const all = [...new Set([...listed, ...oldest.values()])].sort((a, b) => a.place - b.place);
  const total = nodes.length;
  const list = { total, isWhole: all.length === total, columns: columnsOf(all, options) };
  const said = { status: statuses.counts(), flags: counts.counts, lastModified: months.counted() };
  return { facts: { total, ...said, ...linksIn(model.graph), list }, nodes: all.map(({ node }) => node) };
}

/** What the records of a row group say of themselves, as bits. */
async function readOwn(group: RowGroup): Promise<(row: number) => number> {
  const read = async (name: 'locked' | 'archived' | 'hidden' | 'global') => ({
    bit: calculationFlags[name],
    values: await group.values(name),
  });
  const columns = [await read('locked'), await read('archived'), await read('hidden'), await read('global')];
  return (row) => columns.reduce((bits, { bit, values }) => (values[row] === true ? bits | bit : bits), 0);
}

async function readSaid(group: RowGroup, rows: Iterable<Row>): Promise<void> {
  const name = await group.texts('name', asText);
  const owner = await group.texts('owner', (utf8) => canonicalId(asText(utf8)));
  const status = await group.texts('status', (utf8) => asText(utf8).toUpperCase());
  const created = await group.values('created_at');
  for (const each of rows)
    each.said = {
      name: shownText(name[each.row] ?? ''),
      owner: shownText(owner[each.row] ?? ''),
      status: shownText(status[each.row] || NOT_STATED),
      created: timeAt(created, each.row),
    };
}

function timeAt(times: ArrayLike<unknown>, row: number): number | null {
  const time = times[row];
  return typeof time === 'number' ? time : null;
}

function columnsOf(
  rows: readonly Row[],
  { model: { things } }: ThingsToShow,
): CalculationFacts['list']['columns'] {
  const { texts, positionOf } = createDistinctTexts();
  return {
    id: rows.map(({ node }) => shownText(things.thingAt(node).id)),
    name: rows.map(({ said }) => said.name),
    owner: rows.map(({ said }) => positionOf(said.owner)),
    status: rows.map(({ said }) => positionOf(said.status)),
    texts,
    created: rows.map(({ said }) => said.created),
    lastModified: rows.map(({ modified }) => modified),
    flags: rows.map(({ flags }) => flags),
  };
}

/** What the links of calculations say of themselves. */
function linksIn(graph: UsesGraph): Pick<CalculationFacts, 'links' | 'brokenLinks'> {
  const values = createCountedValues();
  const numbers = new Map<string | null, number>();
  let brokenLinks = 0;
  for (let edge = 0; edge < graph.user.length; edge += 1) {
    const [relation, validity] = [graph.relationAt(edge), graph.validityAt(edge)];
    if (relation === 'built on' || relation === 'drills from') continue;
    const number = numbers.get(validity) ?? values.numberOf(validity?.toUpperCase() ?? '');
    numbers.set(validity, number);
    values.add(number);
    if (graph.isBrokenAt(edge)) brokenLinks += 1;
  }
  return { links: values.counts(), brokenLinks };
}

const DAY_MS = 86_400_000;

/** Counts times by their months. */
function createMonths() {
  const days = new Map<number, number>();
  return {
    add(ms: number): void {
      const day = Math.floor(ms / DAY_MS);
      days.set(day, (days.get(day) ?? 0) + 1);
    },
    /** Oldest first. */
    counted(): readonly (readonly [month: string, count: number])[] {
      const months = new Map<string, number>();
      for (const [day, count] of [...days].sort(([a], [b]) => a - b)) {
        const month = new Date(day * DAY_MS).toISOString().slice(0, 7);
        months.set(month, (months.get(month) ?? 0) + count);
      }
      return [...months];
    },
  };
}
