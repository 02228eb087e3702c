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

/** The words for a flag: `which` follows a noun (`cards that are hidden`); `meaning` is a sentence. */
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
  /** Whether the report shows an earlier moment than the time at which it was written. */
  readonly isPast: boolean;
  /** The platform's host, from the newest run. */
  readonly platform: string | undefined;
  readonly links: PlatformLinks;
  /** Every place with a published run, in the order of the sources. */
  readonly snapshots: readonly SnapshotFacts[];
  /**
   * What could not be read, in words, such as a damaged manifest. The report shows everything else.
   */
  readonly faults: readonly string[];
  /** The runs, by place, from which all figures of records are computed, and when these were the last runs. */
  readonly model: { readonly asOfMs: number; readonly runs: Readonly<Record<string, string>> };
  /** The counts of the models of each day, the oldest first. */
  readonly days: readonly DayCounts[];
  /**
   * The sources without a published run of the whole source. Their narrowed places are shown instead, so the platform
   * may have more records.
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
  /** The formulas whose text is known, while they have at most `MAX_FORMULA_CHARACTERS` in all. */
  readonly knownFormulas: KnownFormulas;
  readonly formulas: readonly FormulaUpdate[];
  readonly batches: readonly BatchFacts[];
  readonly jobs: JobFacts;
  /** The cost of the month; undefined without prices. */
  readonly cost?: MonthCost | undefined;
  /** The operations that the platform throttles individually, in words; empty if the budget was not read. */
  readonly throttled: readonly string[];
};

/** Maximum records of a source for a complete list. */
export const MAX_WHOLE = 50_000;

/** Maximum characters of all formulas together, and of their columns. */
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

/** How often each value occurs, most frequent first. `others` is the sum of the values after the first 50. */
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
  /** The ids that the snapshot could not read: at most `MAX_LISTED` of `missingTotal`. */
  readonly missing: readonly { readonly id: string; readonly status: number }[];
  /** The newest run and why it was refused, if it is newer than the published one. */
  readonly refused: { readonly run: string; readonly reasons: readonly string[] } | undefined;
  /** The last thirty published runs, oldest first. */
  readonly history: readonly RunFacts[];
  /** What changed in the last published run; undefined if it was compared with no run, or the changes have expired. */
  readonly changes: ChangesFacts | undefined;
};

type ChangeKind = 'added' | 'removed' | 'changed';

type RunFacts = { readonly run: string } & Numbers<
  ChangeKind | ('startedAt' | 'finishedAt' | 'records') | ('requests' | 'retries' | 'throttled' | 'waitedMs')
>;

/** The changes of a run. `listed` has at most `MAX_LISTED`. */
export type ChangesFacts = Numbers<ChangeKind> & {
  readonly against: string;
  readonly listed: readonly ChangeFacts[];
};

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
  /** The number of known formulas, including formulas that the report leaves out. */
  readonly total: number;
  /** `id`: the calculation's id. `columns`: the column names, as the formula first writes them. */
  readonly list: readonly {
    readonly id: string;
    readonly expression: string;
    readonly columns: readonly string[];
  }[];
};

/** A formula that an `update-formula` job or `formula set` stored, with the formula of our previous update, if any. */
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
  /** Whether it is among the hundred that have not been changed for the longest time. */
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

/** The kinds of things that use one another. */
export type Kind = Extract<ThingKind, 'dataset' | 'calculation' | 'card'>;

/**
 * Which thing uses which. Nodes are numbered: the datasets, calculations and cards of the lists, in this
 * order, followed by `others`. Edge `i` says that node `user[i]` uses node `used[i]`, and breaks if that is deleted.
 */
export type Graph = {
  /** Things that links name but no snapshot contains, since they were deleted or the token may not see them. */
  readonly others: readonly { readonly kind: Kind; readonly id: string }[];
  readonly user: readonly number[];
  readonly used: readonly number[];
  /** For each edge, the index of its relation in the model's `relations`. */
  readonly relation: readonly number[];
  /** The edges whose link is not valid, with the validity that it has. */
  readonly invalid: readonly (readonly [edge: number, valid: string])[];
};

/** The calculations of the model, each once. */
export type CalculationFacts = {
  readonly total: number;
  readonly status: Counts;
  readonly flags: Numbers<CalculationFlag>;
  /** How many uses calculations state, by the validity of the link. */
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

/** The cards of the model. */
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
 * The datasets, with the most cards first. They are known only from their uses, since the platform does not list
 * them.
 */
type DatasetFacts = {
  readonly total: number;
  readonly list: Listed<{ id: string } & Numbers<'cards' | 'calculations' | 'broken_links'>>;
};

/** The counts of an owner's things. */
export const ownedCounts = [...ownedNames, ...wrongFlags] as const;

/** The owners of calculations, cards, files and data files: those with the most calculations and cards first. */
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
   * The numbers of data files by the age of their newest known revision, or, without revisions, of the file: `under 30
   * days`, `30 to 90 days`, `90 days to a year`, `over a year`, `unknown`.
   */
  readonly age: readonly (readonly [range: string, count: number])[];
  readonly list: Listed<
    Readonly<Record<'id' | 'name' | 'scan' | 'owner', string> & Record<'size' | 'created', number | null>>
  >;
};

/** Counts of sentiments, in lower case. */
export type Sentiments = Numbers<'positive' | 'negative' | 'neutral' | 'not_applicable' | 'other'>;

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
  /** The texts with the most negative topics, at most 100. The report has only ids, never the texts. */
  readonly mostNegative: readonly { readonly id: string; readonly topics: readonly string[] }[];
  /** The failures, at most 100. */
  readonly failures: readonly { readonly id: string; readonly reason: string }[];
};

/** What the jobs and batches of a month cost so far, also in `words`. `isCut`: not all results were read. */
type MonthCost = Readonly<Record<'month' | 'unit' | 'words', string>> &
  Numbers<'amount' | 'possibly'> & { readonly isCut: boolean };

export type JobFacts = {
  /** The earliest time of included results. */
  readonly sinceMs: number;
  /** Whether only the newest results were read. */
  readonly isCut: boolean;
  readonly types: readonly ({ readonly type: string } & Numbers<'done' | 'failed' | 'unknown'>)[];
  /**
   * The jobs that need attention, at most `MAX_LISTED`: unknown jobs before failed jobs, each newest first. `advice`:
   * what to do.
   */
  readonly attention: readonly (Numbers<'attempts' | 'finishedAt'> &
    Readonly<Record<'id' | 'type' | 'reason' | 'advice', string>> & {
      readonly status: 'failed' | 'unknown';
    })[];
};

/** The addresses of things in the platform, by kind, with `{id}`, from the setting PLATFORM_LINKS. */
export type PlatformLinks = {
  readonly [Kind in 'calculation' | 'card' | 'dataset' | 'data-file']?: string | undefined;
};

/** The address of a thing in the platform; undefined if its kind has no address. */
export function linkTo(links: PlatformLinks, kind: string, id: string): string | undefined {
  const address = Object.hasOwn(links, kind) ? links[kind as keyof PlatformLinks] : undefined;
  return address?.replaceAll('{id}', () => encodeURIComponent(id.toWellFormed()));
}
