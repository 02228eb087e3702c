import { ISO_TIME } from '../../columns.ts';
import { groupsOf, type ModelColumns } from '../../model/index.ts';
import { canonicalId, lowerCase } from '../../model/rules/index.ts';
import type { Source } from '../../snapshot/sources/index.ts';
import { asText, type RowGroup } from '../../tables/parquet/index.ts';
import type { Counts, ReportFacts } from '../facts.ts';
import { NOT_STATED, shownText, textIn } from './values.ts';

type DataFileFacts = NonNullable<ReportFacts['dataFiles']>;

/** Counts the files by type, status and FileSet, and lists them; if there are too many, lists only the largest. */
export async function readFiles(options: RecordsToShow): Promise<NonNullable<ReportFacts['files']>> {
  const { whole, top } = options.limits;
  const isWhole = recordsOf(options, 'files') <= whole;
  const fileType = createCountedValues();
  const indexStatus = createCountedValues();
  const filesets = new Map<string, { id: string; files: number; bytes: number }>();
  const listed = createLargest<FileRow>(isWhole ? whole : top);
  // A complete list includes files of any size.
  const rankOf = ({ size }: Pick<FileRow, 'size'>) => (isWhole ? 0 : (size ?? -1));
  let total = 0;
  let bytes = 0;
  for await (const { group } of groupsOf(options.columns.files)) {
    options.signal.throwIfAborted();
    const filesetOf = group.texts('_filesetid', countedText);
    const types = group.texts('filetype', countedEnum);
    const states = group.texts('indexstatus', countedEnum);
    const sizes = group.values('size');
    const see = (row: number) => {
      const size = sizeIn(sizes(row));
      const id = filesetOf(row) ?? NOT_STATED;
      const fileset = filesets.get(id) ?? { id, files: 0, bytes: 0 };
      fileset.files += 1;
      fileset.bytes += size ?? 0;
      filesets.set(id, fileset);
      fileType.add(types(row));
      indexStatus.add(states(row));
      total += 1;
      bytes += size ?? 0;
      return listed.mayAdd(rankOf({ size })) ? { fileset: id, size } : undefined;
    };
    for (const file of chosenRows({ group }, see, readFile)) listed.add(rankOf(file), file);
  }
  const rows = listed.values().map(({ path, name, created, ...row }) => ({
    ...row,
    path: path || name,
    created: momentIn(created),
  }));
  const columns = columnsOf(rows, ['path', 'fileset', 'type', 'status', 'owner', 'size', 'created']);
  return {
    total,
    bytes,
    fileType: fileType.counts(),
    indexStatus: indexStatus.counts(),
    filesets: [...filesets.values()],
    list: { total, isWhole: isWhole && total <= whole, columns },
  };
}

type FileRow = ReturnType<ReturnType<typeof readFile>> & {
  readonly fileset: string;
  readonly size: number | null;
};

/** Returns a function that reads some string columns of a row group; each becomes a member of a row. */
export const textsOf =
  <N extends string>(wanted: Readonly<Record<N, ListedText>>) =>
  (group: RowGroup) => {
    const texts: (readonly [N, (row: number) => string])[] = [];
    for (const [name, [column, read, missing = '']] of Object.entries<ListedText>(wanted)) {
      const at = group.texts(column, (utf8) => shownText(read(utf8)));
      texts.push([name as N, (row) => at(row) ?? missing]);
    }
    return (row: number) =>
      Object.fromEntries(texts.map(([name, at]) => [name, at(row)])) as Record<N, string>;
  };

/** Reads a value of a column of fixed words, such as a status, in lower case; `NOT_STATED` if it is empty. */
export const countedEnum = (utf8: Uint8Array): string => shownText(lowerCase(asText(utf8)) || NOT_STATED);

/** Reads an id, in its canonical form; empty if it is not an id. */
export const idText = (utf8: Uint8Array): string => canonicalId(asText(utf8)) ?? '';

const readFile = textsOf({
  path: ['path', asText],
  name: ['name', asText],
  type: ['filetype', countedEnum, NOT_STATED],
  status: ['indexstatus', countedEnum, NOT_STATED],
  owner: ['createdby', idText],
  created: ['created', asText],
});

const DAY_MS = 86_400_000;

const AGE_RANGES = [
  ['under 30 days', 30 * DAY_MS],
  ['30 to 90 days', 90 * DAY_MS],
  ['90 days to a year', 365 * DAY_MS],
  ['over a year', Number.POSITIVE_INFINITY],
] as const;

/** Counts the data files by scan state and age, and lists them; if there are too many, lists only the first. */
export async function readDataFiles(options: RecordsToShow, nowMs: number): Promise<DataFileFacts> {
  const { whole, top } = options.limits;
  const most = recordsOf(options, 'data-files') <= whole ? whole : top;
  const scanState = createCountedValues();
  const ages = new Map<string, number>(
    [...AGE_RANGES.map(([name]) => name), NOT_STATED].map((name) => [name, 0]),
  );
  const rows: {
    [Name in keyof DataFileFacts['list']['columns']]: DataFileFacts['list']['columns'][Name][number];
  }[] = [];
  let total = 0;
  for await (const { group } of groupsOf(options.columns['data-files'])) {
    options.signal.throwIfAborted();
    const current = (name: string) => group.values(`currentrevision.${name}`);
    const states = current('scanstate');
    const sizes = current('sizebytes');
    const uploads = [current('uploadtimemillis'), current('datetimeuploaded')];
    const times = group.values('datetimecreated_at');
    const see = (row: number) => {
      const state = lowerCase(textIn(states(row))) ?? NOT_STATED;
      const created = numberIn(times(row));
      const uploaded = uploads.map((at) => numberIn(at(row))).find((ms) => ms !== null);
      const range = rangeOf(uploaded ?? created, nowMs);
      ages.set(range, (ages.get(range) ?? 0) + 1);
      scanState.add(shownText(state));
      total += 1;
      if (total > most) return undefined;
      return { scan: shownText(state), size: sizeIn(sizes(row)), created };
    };
    rows.push(...chosenRows({ group }, see, readDataFile));
  }
  const columns = columnsOf(rows, ['id', 'name', 'scan', 'owner', 'size', 'created']);
  const list = { total, isWhole: total === rows.length, columns };
  return { total, scanState: scanState.counts(), age: [...ages], list };
}

const readDataFile = textsOf({
  id: ['datafileid', asText],
  name: ['name', asText],
  owner: ['responsibleuserid', idText],
});

const numberIn = (value: unknown): number | null => (value == null ? null : Number(value));

const sizeIn = (value: unknown): number | null => {
  const size = numberIn(value);
  return size !== null && size >= 0 ? size : null;
};

const ISO = new RegExp(ISO_TIME);

/** The epoch milliseconds of a time, computed in the same way as `created_at` in SQL. */
function momentIn(text: string): number | null {
  const [found, , zone] = ISO.exec(text) ?? [];
  return found === undefined ? null : Date.parse(zone === undefined ? `${text}Z` : text) || null;
}

function rangeOf(ms: number | null, nowMs: number): string {
  if (ms === null) return NOT_STATED;
  return AGE_RANGES.find(([, below]) => nowMs - ms < below)?.[0] ?? NOT_STATED;
}

/**
 * The limits of lists. `whole`: a list of up to this many records is complete; `top`: the length of an incomplete one.
 */
export type ListLimits = { readonly whole: number; readonly top: number };

/** The records to read, and how many of them to list. */
type RecordsToShow = {
  readonly columns: ModelColumns;
  readonly limits: ListLimits;
  readonly signal: AbortSignal;
};

/** How many records a source has. */
const recordsOf = ({ columns }: RecordsToShow, source: Source): number =>
  (columns[source]?.parts ?? []).reduce((sum, { count }) => sum + count, 0);

/**
 * Selects rows of a group. `rows`: the rows to look at; by default all. `see`: called with each of them and its index
 * in `rows`; a row for which it returns a value is selected, and that value is merged with what `read` returns. `read`
 * is called only for a group with a selected row. So columns that only listed rows need are not read in other groups.
 */
export function chosenRows<Seen extends object, Said extends object>(
  { group, rows }: { readonly group: RowGroup; readonly rows?: Uint32Array },
  see: (row: number, index: number) => Seen | undefined,
  read: (group: RowGroup) => (row: number) => Said,
): readonly (Seen & Said)[] {
  const chosen: { readonly row: number; readonly seen: Seen }[] = [];
  // `entries()` would allocate an object for each of a million rows.
  for (let index = 0; index < (rows?.length ?? group.rows); index += 1) {
    const row = rows?.[index] ?? index;
    const seen = see(row, index);
    if (seen !== undefined) chosen.push({ row, seen });
  }
  if (chosen.length === 0) return [];
  const saidAt = read(group);
  return chosen.map(({ row, seen }) => ({ ...seen, ...saidAt(row) }));
}

/**
 * How to read a member of a row: its column, how to convert the value, and the value if it is missing. Default: empty.
 */
type ListedText = readonly [column: string, read: (utf8: Uint8Array) => string, missing?: string];

/** Turns rows into columns with these names. */
export const columnsOf = <R extends object, N extends keyof R>(rows: readonly R[], names: readonly N[]) =>
  Object.fromEntries(names.map((name) => [name, rows.map((row) => row[name])])) as unknown as {
    readonly [Name in N]: readonly R[Name][];
  };

/**
 * Creates a counter of things by their flags, which also decides for each thing whether to list it (`see`). If there
 * are at most `whole` things, it lists all; otherwise the first `top`, and the first `top` with each flag in `wanted`.
 */
export function createFlags<F extends string>(
  bits: Readonly<Record<F, number>>,
  wanted: readonly NoInfer<F>[],
  { total, whole, top }: ListLimits & { readonly total: number },
) {
  const byBits = new Map<number, number>();
  const left = new Map(wanted.map((flag) => [bits[flag], top]));
  let listed = 0;
  return {
    see(flags: number): boolean {
      byBits.set(flags, (byBits.get(flags) ?? 0) + 1);
      let isListed = total <= whole || listed < top;
      listed += 1;
      for (const [bit, more] of left)
        if ((flags & bit) !== 0) {
          isListed = true;
          if (more > 1) left.set(bit, more - 1);
          else left.delete(bit);
        }
      return isListed;
    },
    counts(): Record<F, number> {
      const having = (bit: number) => [...byBits].reduce((sum, [flags, n]) => sum + (flags & bit ? n : 0), 0);
      const names = Object.keys(bits) as F[];
      return Object.fromEntries(names.map((name) => [name, having(bits[name])])) as Record<F, number>;
    },
  };
}

const MAX_VALUES = 50;

/** Reads a string to be counted; `NOT_STATED` if it is empty. */
const countedText = (utf8: Uint8Array): string => shownText(asText(utf8) || NOT_STATED);

/** Creates a counter of how many times each value occurs; null counts as `NOT_STATED`. */
export function createCountedValues() {
  const counted = new Map<string, number>();
  return {
    add: (value: string | null = NOT_STATED, count = 1): void =>
      void counted.set(value ?? NOT_STATED, (counted.get(value ?? NOT_STATED) ?? 0) + count),
    /** The values, most frequent first; `others`: the sum for the values that are not listed. */
    counts(): Counts {
      const sorted = [...counted].sort(([, a], [, b]) => b - a);
      const others = sorted.slice(MAX_VALUES).reduce((sum, [, count]) => sum + count, 0);
      return { values: sorted.slice(0, MAX_VALUES), others };
    },
  };
}

/** Creates a collection of the `max` largest entries; among entries of equal size, the first ones. */
export function createLargest<T>(max: number) {
  const entries: { readonly size: number; readonly at: number; readonly value: T }[] = [];
  let added = 0;
  let limit = Number.NEGATIVE_INFINITY;
  const trim = () => {
    entries.sort((a, b) => b.size - a.size || a.at - b.at);
    entries.length = Math.min(entries.length, max);
    if (entries.length === max) limit = entries.at(-1)?.size ?? limit;
  };
  return {
    /** Whether an entry of this size would be added. */
    mayAdd: (size: number) => size > limit || entries.length < max,
    add(size: number, value: T) {
      entries.push({ size, at: added, value });
      added += 1;
      // Sorted only now and then, so that adding is cheap.
      if (entries.length >= 2 * max + 16) trim();
    },
    /** Returns the entries, the largest first. */
    values(): readonly T[] {
      trim();
      return entries.map(({ value }) => value);
    },
  };
}
