import {
  type BatchCounts,
  type DayCounts,
  type Flag,
  flagBits,
  flagMeanings,
  ownedNames,
  type Kind as ThingKind,
  wrongFlags,
} from '../model/rules/index.ts';

/** `which` follows a noun (`cards that are hidden`); `meaning` is a sentence. */
const words = (label: string, which: string, meaning: string) => ({ label, which, meaning });

/** The words for each flag: on the page, in its counts and in a digest. */
export const flagWords = {
  broken_links: words('broken links', 'with broken links', flagMeanings.broken_links),
  invalid: words('invalid', 'that are invalid', flagMeanings.invalid),
  missing_target: words('missing target', 'with a missing target', flagMeanings.missing_target),
  affected: words('affected', 'that are affected', flagMeanings.affected),
  unused: words('unused', 'that nothing uses', flagMeanings.unused),
  same_name: words('same name', 'that share a name', flagMeanings.same_name),
  same_links: words('same links', 'that have the same links', flagMeanings.same_links),
  same_formula: words('same formula', 'that have the same formula', flagMeanings.same_formula),
  locked: words('locked', 'that are locked', 'Its record says that it is locked.'),
  archived: words('archived', 'that are archived', 'Its record says that it is archived.'),
  hidden: words('hidden', 'that are hidden', 'Its record says that it is hidden.'),
  global: words('global', 'that are global', 'Its record says that it is global.'),
  oldest: words(
    'oldest',
    'left unchanged the longest',
    'It is among the hundred that have not been changed for the longest time.',
  ),
  without_access: words('without access', 'without access', 'The token may not open it.'),
} as const satisfies Readonly<Record<CalculationFlag | CardFlag, object>>;

/**
 * Everything that the page shows, as one JSON value inside the page. Texts are as the platform sent them: the page
 * escapes them. Times are epoch milliseconds; ids are texts of digits. A list is complete if its source has at most
 * `MAX_WHOLE` records; otherwise it holds the first of them, and `total` is how many there are.
 */
export type ReportFacts = {
  readonly writtenAt: number;
  /** True if it says what was known then, and was written later. */
  readonly isPast: boolean;
  /** The platform's host, from the newest run. */
  readonly platform: string | undefined;
  readonly links: PlatformLinks;
  /** Every place with a published run, in the order of the sources. */
  readonly snapshots: readonly SnapshotFacts[];
  /** What could not be read, in words: a damaged manifest, changes that have expired. The report shows the rest. */
  readonly faults: readonly string[];
  /** The runs, by place, that all figures of records are computed from, and when these were the last runs. */
  readonly model: { readonly asOfMs: number; readonly runs: Readonly<Record<string, string>> };
  /** What models of each day counted, the oldest first. */
  readonly days: readonly DayCounts[];
  /** The sources without a published full run: their narrowed places are shown instead, and there may be more records. */
  readonly narrowed: readonly { readonly source: string; readonly places: readonly string[] }[];
  readonly calculations?: CalculationFacts | undefined;
  readonly cards?: CardFacts | undefined;
  readonly datasets?: DatasetFacts | undefined;
  readonly owners?: OwnerFacts | undefined;
  readonly files?: FileFacts | undefined;
  readonly dataFiles?: DataFileFacts | undefined;
  /** Which thing uses which, among the records that the lists above hold. */
  readonly graph: Graph;
  readonly formulas: readonly FormulaUpdate[];
  readonly batches: readonly BatchFacts[];
  readonly jobs: JobFacts;
  /** Undefined if no prices are set. */
  readonly cost?: MonthCost | undefined;
  /** The operations that the platform throttles individually, in words; empty if the budget was not read. */
  readonly throttled: readonly string[];
};

/** Maximum records of a source for a complete list. */
export const MAX_WHOLE = 50_000;

/** Maximum entries of an incomplete list. */
export const MAX_LISTED = 1_000;

/** A list of records as columns, all of the same length. */
type Listed<Row> = {
  readonly total: number;
  readonly isWhole: boolean;
  readonly columns: { readonly [Column in keyof Row]: readonly Row[Column][] };
};

type Numbers<Name extends string> = Readonly<Record<Name, number>>;

/** How often each value occurs, most frequent first; `others` counts those beyond the first 50. */
export type Counts = {
  readonly values: readonly (readonly [value: string, count: number])[];
  readonly others: number;
};

export type SnapshotFacts = Numbers<'startedAt' | 'finishedAt' | 'records' | 'missingTotal'> & {
  readonly place: string;
  readonly source: string;
  /** The last published run. */
  readonly run: string;
  readonly totals: { readonly start: number | null; readonly end: number | null };
  readonly consistency: 'proved' | 'best-effort';
  readonly forced: boolean;
  /** What the snapshot could not read; at most `MAX_LISTED` of `missingTotal`. */
  readonly missing: readonly { readonly id: string; readonly status: number }[];
  /** The newest run, if it is newer than the published one and was refused, with the reasons. */
  readonly refused: { readonly run: string; readonly reasons: readonly string[] } | undefined;
  /** The last thirty published runs, oldest first. */
  readonly history: readonly RunFacts[];
  /** What changed in the last published run; undefined if nothing was compared, or the changes have expired. */
  readonly changes: ChangesFacts | undefined;
};

type ChangeKind = 'added' | 'removed' | 'changed';

type RunFacts = { readonly run: string } & Numbers<
  ChangeKind | ('startedAt' | 'finishedAt' | 'records') | ('requests' | 'retries' | 'throttled' | 'waitedMs')
>;

/** `listed` has at most `MAX_LISTED`. */
export type ChangesFacts = Numbers<ChangeKind> & {
  readonly against: string;
  readonly listed: readonly ChangeFacts[];
};

export type ChangeFacts = {
  readonly change: ChangeKind;
  readonly key: string;
  readonly label: string;
  /** The fields that differ, with their values as JSON, each shortened at 2,000 characters; null where absent. */
  readonly fields: readonly {
    readonly name: string;
    readonly before: string | null;
    readonly after: string | null;
  }[];
};

/** A formula that an `update-formula` job or `formula set` stored, with the one that we stored before it, if any. */
export type FormulaUpdate = {
  readonly calculationId: string;
  readonly name: string;
  readonly at: number;
  readonly before: string | null;
  readonly after: string;
};

/** What may be wrong with a calculation, or is worth knowing about it: one bit each in the column `flags`. */
export const calculationFlags = {
  ...flagBits,
  locked: 512,
  archived: 1024,
  hidden: 2048,
  global: 4096,
  /** Among the hundred that have not been changed for the longest time. */
  oldest: 8192,
} as const satisfies Readonly<Record<Flag, number>> & Numbers<string>;

type CalculationFlag = keyof typeof calculationFlags;

/** What may be wrong with a card: one bit each in the column `flags`. */
export const cardFlags = {
  missing_target: flagBits.missing_target,
  affected: flagBits.affected,
  /** The token may not open it. */
  without_access: 256,
} as const;

type CardFlag = keyof typeof cardFlags;

/** The kinds of things that use one another. */
export type Kind = Extract<ThingKind, 'dataset' | 'calculation' | 'card'>;

/**
 * Which thing uses which. Nodes are numbered: the datasets, calculations and cards of the lists, in this order, then
 * `others`. Edge `i` says that node `user[i]` uses node `used[i]`, so it breaks if that is deleted.
 */
export type Graph = {
  /** Things that links name but no snapshot contains: targets of broken references, or what the token may not see. */
  readonly others: readonly { readonly kind: Kind; readonly id: string }[];
  readonly user: readonly number[];
  readonly used: readonly number[];
  /** Positions in `relations` of the model. */
  readonly relation: readonly number[];
  /** Edges whose link is not valid: what it is instead. */
  readonly invalid: readonly (readonly [edge: number, valid: string])[];
};

/** The calculations of the model: those with an id, each once. */
export type CalculationFacts = {
  readonly total: number;
  readonly status: Counts;
  readonly flags: Numbers<CalculationFlag>;
  /** The uses that calculations state, by the validity of the link. */
  readonly links: Counts;
  /** How many of these are not VALID. The graph has those between listed things. */
  readonly brokenLinks: number;
  /** By the month of the last change, `2026-11`, oldest first. */
  readonly lastModified: readonly (readonly [month: string, count: number])[];
  /** If incomplete: the first `MAX_LISTED`, and the first with each flag except `global` and `hidden`. */
  readonly list: Listed<
    Readonly<Record<'id' | 'name' | 'owner' | 'status', string>> &
      Readonly<Record<'modified' | 'brokenSince' | 'unusedSince', number | null>> & { flags: number }
  >;
};

/** The cards of the model. */
type CardFacts = {
  readonly total: number;
  readonly type: Counts;
  readonly chartType: Counts;
  readonly flags: Numbers<CardFlag>;
  /** If incomplete: the first `MAX_LISTED`, and the first with each flag. */
  readonly list: Listed<
    Readonly<Record<'id' | 'title' | 'type' | 'dataset', string>> & {
      owner: readonly string[];
      flags: number;
    }
  >;
};

/** Datasets are known only from their uses, since the platform does not list them. Most cards first. */
type DatasetFacts = {
  readonly total: number;
  readonly list: Listed<{ id: string } & Numbers<'cards' | 'calculations' | 'broken_links'>>;
};

/** The counts of an owner's things. */
export const ownedCounts = [...ownedNames, ...wrongFlags] as const;

/** The owners of calculations, cards, files and data files: those with the most calculations and cards first. */
type OwnerFacts = {
  readonly total: number;
  /** The name is from a card; empty if no card has it. */
  readonly list: Listed<
    { id: string; name: string; oldest_modified: number | null } & Numbers<(typeof ownedCounts)[number]>
  >;
};

type FileFacts = {
  readonly total: number;
  readonly bytes: number;
  readonly fileType: Counts;
  readonly indexStatus: Counts;
  readonly filesets: readonly ({ readonly id: string } & Numbers<'files' | 'bytes'>)[];
  /** If incomplete: the largest. */
  readonly list: Listed<
    Readonly<
      Record<'fileset' | 'path' | 'type' | 'owner' | 'status', string> &
        Record<'size' | 'created', number | null>
    >
  >;
};

export type DataFileFacts = {
  readonly total: number;
  readonly scanState: Counts;
  /** By the age of the newest known revision, or else of the file: `under 30 days`, `30 to 90 days`, `90 days to a year`, `over a year`, `unknown`. */
  readonly age: readonly (readonly [range: string, count: number])[];
  readonly list: Listed<
    Readonly<Record<'id' | 'name' | 'scan' | 'owner', string> & Record<'size' | 'created', number | null>>
  >;
};

/** Counts of sentiments, in lower case. */
export type Sentiments = Numbers<'positive' | 'negative' | 'neutral' | 'not_applicable' | 'other'>;

export type BatchFacts = BatchCounts & {
  readonly batch: string;
  /** Undefined for a batch that the command `score` scored itself, without jobs. */
  readonly finishedAt: number | undefined;
  /** One entry named `''` for a batch without topics. */
  readonly topics: readonly { readonly topic: string; readonly sentiments: Sentiments }[];
  /** True if it has more parts than were read: `overTime`, `mostNegative` and `failures` then cover its first texts. */
  readonly isCut: boolean;
  /** By the day in the first column with a date, if at least nine of ten texts have one. `column`: its most frequent name. */
  readonly overTime:
    | {
        readonly column: string;
        readonly days: readonly { readonly day: string; readonly sentiments: Sentiments }[];
      }
    | undefined;
  /** At most 100, by how many topics are negative. The report has only ids, never the texts. */
  readonly mostNegative: readonly { readonly id: string; readonly topics: readonly string[] }[];
  /** At most 100. */
  readonly failures: readonly { readonly id: string; readonly reason: string }[];
};

/** What the jobs and batches of a month cost so far, in `words` too. `isCut`: not all results were read. */
type MonthCost = Readonly<Record<'month' | 'unit' | 'words', string>> &
  Numbers<'amount' | 'possibly'> & { readonly isCut: boolean };

export type JobFacts = {
  /** Results are of this time and later. */
  readonly sinceMs: number;
  /** True if only the newest results were read. */
  readonly isCut: boolean;
  readonly types: readonly ({ readonly type: string } & Numbers<'done' | 'failed' | 'unknown'>)[];
  /** Unknown ones first, then failed ones, newest first: at most `MAX_LISTED`. `advice` is what to do. */
  readonly attention: readonly (Numbers<'attempts' | 'finishedAt'> &
    Readonly<Record<'id' | 'type' | 'reason' | 'advice', string>> & {
      readonly status: 'failed' | 'unknown';
    })[];
};

/** The addresses of things in the platform, by kind, with `{id}`: the setting PLATFORM_LINKS. */
export type PlatformLinks = {
  readonly [Kind in 'calculation' | 'card' | 'dataset' | 'data-file']?: string | undefined;
};

/** The address of a thing in the platform; undefined for a kind without one. */
export function linkTo(links: PlatformLinks, kind: string, id: string): string | undefined {
  const address = Object.hasOwn(links, kind) ? links[kind as keyof PlatformLinks] : undefined;
  return address?.replaceAll('{id}', () => encodeURIComponent(id.toWellFormed()));
}
