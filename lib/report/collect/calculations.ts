import { thing, type Use, usesOf } from '../../model/rules/index.ts';
import { type CalculationFacts, type CalculationFlag, calculationFlags } from '../facts.ts';
import { validsIn } from './calculation-traits.ts';
import { createDistinctTexts } from './distinct-texts.ts';
import type { EdgeSink } from './edge-sink.ts';
import { type KnownCalculations, ownerOf, readCalculations } from './known-calculations.ts';
import type { ListLimits } from './list-limits.ts';
import { createPlaces, type Places } from './places.ts';
import type { RunRecords } from './run-records.ts';
import { enumIn, type Members, printMonth, shownText, textIn, timeIn } from './values.ts';

const NAMES = Object.keys(calculationFlags) as readonly CalculationFlag[];

/** Flags that so many calculations have that nobody looks for those that have them. */
const UNLISTED: readonly CalculationFlag[] = ['global', 'hidden'];

/** A run of calculations that was read once. */
export type CountedCalculations = {
  readonly places: Places;
  /** Reads the run again, for the list. */
  readonly list: (sink: EdgeSink) => Promise<CalculationFacts>;
};

/** Reads a run of calculations; `visit` gets all edges. */
export async function countCalculations(
  run: RunRecords,
  visit: (edge: Use) => void,
  limits: ListLimits,
): Promise<CountedCalculations> {
  const known = await readCalculations(run, visit);
  const chosen = chosenOf(known.flags, limits);
  const places = createPlaces(known.ids, known.sortedIds, chosen);
  return { places, list: (sink) => listCalculations(run, known, chosen, { sink, limits }) };
}

/** One for each calculation that is listed, 0 for the others. */
function chosenOf(flags: Uint16Array, { whole, top }: ListLimits): Uint8Array {
  if (flags.length <= whole) return new Uint8Array(flags.length).fill(1);
  const chosen = new Uint8Array(flags.length);
  for (const name of NAMES.filter((each) => !UNLISTED.includes(each))) {
    let left = top;
    for (let number = 0; number < flags.length && left > 0; number += 1) {
      if (((flags[number] ?? 0) & calculationFlags[name]) === 0) continue;
      chosen[number] = 1;
      left -= 1;
    }
  }
  return chosen;
}

async function listCalculations(
  run: RunRecords,
  known: KnownCalculations,
  chosen: Uint8Array,
  { sink, limits }: { readonly sink: EdgeSink; readonly limits: ListLimits },
): Promise<CalculationFacts> {
  const { total, flags, status, owners, links, months } = known;
  const isUnnamed = [status.choose(), owners.choose(), links.choose()].includes(true);
  const { texts, positionOf } = createDistinctTexts();
  const columns = {
    id: [] as string[],
    name: [] as string[],
    owner: [] as number[],
    status: [] as number[],
    texts,
    created: [] as (number | null)[],
    lastModified: [] as (number | null)[],
    flags: [] as number[],
  };
  const wants = (number: number) => isUnnamed || chosen[number] === 1 || sink.isWanting();
  await run.read((record, number) => {
    if (isUnnamed) nameValues(record, known);
    if (chosen[number] !== 1) {
      if (sink.isWanting()) sink.other(usesOf('calculations', record));
      return;
    }
    sink.listed(usesOf('calculations', record));
    columns.id.push(shownText(thing('calculation', record['id'])?.id ?? ''));
    columns.name.push(shownText(textIn(record['name']) ?? ''));
    columns.owner.push(positionOf(shownText(ownerOf(record))));
    columns.status.push(positionOf(shownText(enumIn(record['status']))));
    columns.created.push(timeIn(record['created']) ?? null);
    columns.lastModified.push(timeIn(record['lastModified']) ?? null);
    columns.flags.push(flags[number] ?? 0);
  }, wants);
  return {
    total,
    status: status.counts(),
    flags: countFlags(flags),
    owners: owners.counts(),
    links: links.counts(),
    lastModified: [...months].sort(([a], [b]) => a - b).map(([month, count]) => [printMonth(month), count]),
    list: { total, isWhole: total <= limits.whole, columns },
  };
}

function nameValues(record: Members, { status, owners, links }: KnownCalculations): void {
  status.name(enumIn(record['status']));
  owners.name(ownerOf(record));
  for (const valid of validsIn(record)) links.name(valid);
}

function countFlags(flags: Uint16Array): CalculationFacts['flags'] {
  const counts = Object.fromEntries(NAMES.map((name) => [name, 0])) as Record<CalculationFlag, number>;
  for (const each of flags)
    for (const name of NAMES) if ((each & calculationFlags[name]) !== 0) counts[name] += 1;
  return counts;
}
