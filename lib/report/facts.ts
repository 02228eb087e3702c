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

/**
 * The words for a flag: a short `label`; `which`, to follow a noun (`cards that are hidden`); `meaning`, a sentence.
 */
const words = (label: string, which: string, meaning: string) => ({ label, which, meaning });

/** The words for each flag, on the page, in its counts and in a digest. */
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
 * Everything that the page shows, as one JSON value inside the page. Strings are as the platform sent them; the page
 * escapes them. Times are epoch milliseconds; ids are strings of digits. A list is complete if its source has at most
 * `MAX_WHOLE` records; otherwise it has the first records, and `total` is the number of all.
 */
export type ReportFacts = {
  readonly writtenAt: number;
  /** Whether the report shows the state at an earlier moment than the time at which it was written. */
  readonly isPast: boolean;
  /** The platform's host, from the newest run. */
  readonly platform: string | undefined;
  readonly links: PlatformLinks;
  /** Every place with a published run, in the order of the sources. */
  readonly snapshots: readonly SnapshotFacts[];
  /** What could not be read, in words, for example because a manifest is damaged. The report shows everything else. */
  readonly faults: readonly string[];
  /** The run of each place from which the figures of records are computed, and when these were the last runs. */
  readonly model: { readonly asOfMs: number; readonly runs: Readonly<Record<string, string>> };
  /** How many things were wrong or unused on each day, oldest first. */
  readonly days: readonly DayCounts[];
  /**
   * The sources that have published runs only of narrowed places. These places are shown instead, so the platform may
   * have more records.
   */
  readonly narrowed: readonly { readonly source: string; readonly places: readonly string[] }[];
  readonly calculations?: CalculationFacts | undefined;
  readonly cards?: CardFacts | undefined;
  readonly datasets?: DatasetFacts | undefined;
  readonly owners?: OwnerFacts | undefined;
  readonly files?: FileFacts | undefined;
  readonly dataFiles?: DataFileFacts | undefined;
  /** Which thing uses which, among the records in the lists above. */
  readonly graph: Graph;
  /** The formulas whose text is known, as many as fit into `MAX_FORMULA_CHARACTERS`. */
  readonly knownFormulas: KnownFormulas;
  readonly formulas: readonly FormulaUpdate[];
  readonly batches: readonly BatchFacts[];
  readonly jobs: JobFacts;
  /** What this month has cost so far; undefined without prices. */
  readonly cost?: MonthCost | undefined;
  /** The operations that the platform throttles individually, in words; empty if the budget was not read. */
  readonly throttled: readonly string[];
};

/** A source's list is complete if the source has at most this many records. */
export const MAX_WHOLE = 50_000;

/** Maximum characters of all formulas and of their columns' names together. */
export const MAX_FORMULA_CHARACTERS = 300_000;

/** Maximum entries of an incomplete list. */
export const MAX_LISTED = 1_000;

/** A list of records as columns, all of the same length. */
type Listed<Row> = {
  readonly total: number;
  readonly isWhole: boolean;
  readonly columns: { readonly [Column in keyof Row]: readonly Row[Column][] };
};

type Numbers<Name extends string> = Readonly<Record<Name, number>>;

/** How many times each value occurs, most frequent first. `others`: the sum for the values after the first 50. */
export type Counts = {
  readonly values: readonly (readonly [value: string, count: number])[];
  readonly others: number;
};

/** The last published run of a place, and its history. Times are epoch milliseconds. */
export type SnapshotFacts = Numbers<'startedAt' | 'finishedAt' | 'records' | 'missingTotal'> & {
  readonly place: string;
  readonly source: string;
  /** The last published run. */
  readonly run: string;
  readonly totals: { readonly start: number | null; readonly end: number | null };
  readonly consistency: 'proved' | 'best-effort';
  readonly forced: boolean;
  /** The ids that the snapshot could not read: at most `MAX_LISTED` of `missingTotal`. */
  readonly missing: readonly { readonly id: string; readonly status: number }[];
  /** The newest run and why it was refused, if it is newer than the published one. */
  readonly refused: { readonly run: string; readonly reasons: readonly string[] } | undefined;
  /** The last thirty published runs, oldest first. */
  readonly history: readonly RunFacts[];
  /**
   * What changed in the last published run; undefined if it was not compared with another one, or the changes have
   * expired.
   */
  readonly changes: ChangesFacts | undefined;
};

type ChangeKind = 'added' | 'removed' | 'changed';

type RunFacts = { readonly run: string } & Numbers<
  ChangeKind | ('startedAt' | 'finishedAt' | 'records') | ('requests' | 'retries' | 'throttled' | 'waitedMs')
>;

/** The changes of a run. `against`: the run that it was compared with; `listed`: at most `MAX_LISTED` changes. */
export type ChangesFacts = Numbers<ChangeKind> & {
  readonly against: string;
  readonly listed: readonly ChangeFacts[];
};

/** One change of a record. `key`: the record's key; `label`: its name or title. */
export type ChangeFacts = {
  readonly change: ChangeKind;
  readonly key: string;
  readonly label: string;
  /** The fields that differ, with their values as JSON, each cut at 2,000 characters; null if absent. */
  readonly fields: readonly {
    readonly name: string;
    readonly before: string | null;
    readonly after: string | null;
  }[];
};

type KnownFormulas = {
  /** The number of known formulas, including those that the report leaves out. */
  readonly total: number;
  /** `id`: the calculation's id. `columns`: the names of the columns, spelled as at their first use in the formula. */
  readonly list: readonly {
    readonly id: string;
    readonly expression: string;
    readonly columns: readonly string[];
  }[];
};

/**
 * An update of a formula by an `update-formula` job or by `formula set`. `before`: the formula of the previous such
 * update; null for the first one.
 */
export type FormulaUpdate = {
  readonly calculationId: string;
  readonly name: string;
  readonly at: number;
  readonly before: string | null;
  readonly after: string;
};

/** The bits of the column `flags` of calculations: what may be wrong or worth knowing. */
export const calculationFlags = {
  ...flagBits,
  locked: 512,
  archived: 1024,
  hidden: 2048,
  global: 4096,
  /** Set if it is among the hundred that have not been changed for the longest time. */
  oldest: 8192,
} as const satisfies Readonly<Record<Flag, number>> & Numbers<string>;

type CalculationFlag = keyof typeof calculationFlags;

/** The bits of the column `flags` of cards: what may be wrong. */
export const cardFlags = {
  missing_target: flagBits.missing_target,
  affected: flagBits.affected,
  /** Set if the token may not open the card. */
  without_access: 256,
} as const;

type CardFlag = keyof typeof cardFlags;

/** The kinds of things in the graph. */
export type Kind = Extract<ThingKind, 'dataset' | 'calculation' | 'card'>;

/**
 * Which thing uses which. Nodes are numbered: the datasets, calculations and cards of the lists, in this order,
 * followed by `others`. Edge `i` says that node `user[i]` uses node `used[i]`, so it breaks if that is deleted.
 */
export type Graph = {
  /** Things that links refer to but no snapshot contains: they were deleted, or the token may not see them. */
  readonly others: readonly { readonly kind: Kind; readonly id: string }[];
  readonly user: readonly number[];
  readonly used: readonly number[];
  /** For each edge, the index of its relation in the model's `relations`. */
  readonly relation: readonly number[];
  /** The edges whose link is not VALID, with the link's validity. */
  readonly invalid: readonly (readonly [edge: number, valid: string])[];
};

/** The calculations, each once. */
export type CalculationFacts = {
  readonly total: number;
  readonly status: Counts;
  readonly flags: Numbers<CalculationFlag>;
  /** How many links calculations have, by validity. */
  readonly links: Counts;
  /** How many of these links are not VALID. */
  readonly brokenLinks: number;
  /** How many calculations were last changed in each month, `2026-11`, oldest first. */
  readonly lastModified: readonly (readonly [month: string, count: number])[];
  /**
   * The calculations. If there are too many, the first `MAX_LISTED`, and the first with each flag except `global` and
   * `hidden`.
   */
  readonly list: Listed<
    Readonly<Record<'id' | 'name' | 'owner' | 'status', string>> &
      Readonly<Record<'modified' | 'brokenSince' | 'unusedSince', number | null>> & { flags: number }
  >;
};

/** The cards, each once. */
type CardFacts = {
  readonly total: number;
  readonly type: Counts;
  readonly chartType: Counts;
  readonly flags: Numbers<CardFlag>;
  /** The cards. If there are too many: the first `MAX_LISTED`, and the first with each flag. */
  readonly list: Listed<
    Readonly<Record<'id' | 'title' | 'type' | 'dataset', string>> & {
      owner: readonly string[];
      flags: number;
    }
  >;
};

/**
 * The datasets, those with the most cards first. They are known only from the things that use them, since the platform
 * does not list datasets.
 */
type DatasetFacts = {
  readonly total: number;
  readonly list: Listed<{ id: string } & Numbers<'cards' | 'calculations' | 'broken_links'>>;
};

/** What is counted for each owner. */
export const ownedCounts = [...ownedNames, ...wrongFlags] as const;

/** The owners of calculations, cards, files and data files. Those with the most calculations and cards come first. */
type OwnerFacts = {
  readonly total: number;
  /** The owners. A name comes from a card; it is empty if no card has it. */
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
  /** The files. If there are too many: the largest ones. */
  readonly list: Listed<
    Readonly<
      Record<'fileset' | 'path' | 'type' | 'owner' | 'status', string> &
        Record<'size' | 'created', number | null>
    >
  >;
};

type DataFileFacts = {
  readonly total: number;
  readonly scanState: Counts;
  /**
   * The number of data files by the age of their current revision, or, if that is unknown, of the file itself: `under
   * 30 days`, `30 to 90 days`, `90 days to a year`, `over a year`, `unknown`.
   */
  readonly age: readonly (readonly [range: string, count: number])[];
  readonly list: Listed<
    Readonly<Record<'id' | 'name' | 'scan' | 'owner', string> & Record<'size' | 'created', number | null>>
  >;
};

/** Counts of sentiments, in lower case. */
export type Sentiments = Numbers<'positive' | 'negative' | 'neutral' | 'not_applicable' | 'other'>;

/** The counts of a batch of scored texts, and its sentiments. It never has the texts themselves. */
export type BatchFacts = BatchCounts & {
  readonly batch: string;
  /** When the batch ended; undefined for a batch that the command `score` scored itself, without jobs. */
  readonly finishedAt: number | undefined;
  /** The sentiments by topic. A batch without topics has one entry, named `''`. */
  readonly topics: readonly { readonly topic: string; readonly sentiments: Sentiments }[];
  /**
   * Whether it has more parts than were read, so that `overTime`, `mostNegative` and `failures` cover only its first
   * texts.
   */
  readonly isCut: boolean;
  /**
   * The sentiments by the day in the first column with a date, if at least nine of ten texts have one.
   * `column`: the most frequent name of that column.
   */
  readonly overTime:
    | {
        readonly column: string;
        readonly days: readonly { readonly day: string; readonly sentiments: Sentiments }[];
      }
    | undefined;
  /** The texts that are negative about the most topics, at most 100. The report has only their ids, never the texts. */
  readonly mostNegative: readonly { readonly id: string; readonly topics: readonly string[] }[];
  /** The failures, at most 100. */
  readonly failures: readonly { readonly id: string; readonly reason: string }[];
};

/** What the jobs and batches of a month cost so far, also in `words`. `isCut`: not all results were read. */
type MonthCost = Readonly<Record<'month' | 'unit' | 'words', string>> &
  Numbers<'amount' | 'possibly'> & { readonly isCut: boolean };

/** The jobs that ended, by type, and those that need attention. */
export type JobFacts = {
  /** The earliest time of included results. */
  readonly sinceMs: number;
  /** Whether only the newest results were read. */
  readonly isCut: boolean;
  readonly types: readonly ({ readonly type: string } & Numbers<'done' | 'failed' | 'unknown'>)[];
  /**
   * The jobs that need attention, at most `MAX_LISTED`: jobs with an unknown outcome before failed ones, each newest
   * first. `advice`: what to do.
   */
  readonly attention: readonly (Numbers<'attempts' | 'finishedAt'> &
    Readonly<Record<'id' | 'type' | 'reason' | 'advice', string>> & {
      readonly status: 'failed' | 'unknown';
    })[];
};

/**
 * The setting PLATFORM_LINKS: for each kind, the address of a thing in the platform, with `{id}` in place of its id.
 */
export type PlatformLinks = {
  readonly [Kind in 'calculation' | 'card' | 'dataset' | 'data-file']?: string | undefined;
};

/** The address of a thing in the platform; undefined if its kind has no address. */
export function linkTo(links: PlatformLinks, kind: string, id: string): string | undefined {
  const address = Object.hasOwn(links, kind) ? links[kind as keyof PlatformLinks] : undefined;
  return address?.replaceAll('{id}', () => encodeURIComponent(id.toWellFormed()));
}
