import type * as z from 'zod/mini';
import type { ListOf } from '../../json/inputs.ts';
import type { Call } from '../../platform/call.ts';
import type { Scan } from '../scan.ts';

/** The fields that a request of one source has beside those of every request, each with its schema. */
export type Fields = z.core.$ZodShape;

/** A request of these fields as it was checked. */
export type Checked<F extends Fields> = z.output<z.ZodMiniObject<F, z.core.$strict>>;

/**
 * All that the program knows of one source: the requests, messages and schedules that ask for it, its command, its
 * runs and their comparison, its Glue table and its part of the tour are made from this. `F`: the fields of a request;
 * `Linked`: the source whose records link to its ids.
 */
export type SourceDefinition<
  Name extends string = string,
  F extends Fields = Fields,
  Linked extends string = string,
> = {
  readonly name: Name;
  /** What a snapshot of it takes: one line for the help. */
  readonly takes: string;
  /** Fields of a request that is sent as a message: its lists are bounded. */
  readonly fields: F;
  /** The same where nothing is sent: lists may have any length. */
  readonly unboundedFields: F;
  readonly rules: readonly RequestRule[];
  /** What a run of the request takes. */
  selectionOf(request: Checked<F>): Selected;
  /** What a run's checkpoint and manifest store as its selection. */
  readonly selection: z.ZodMiniType<object>;
  /** For a source that is read id by id. */
  readonly ids?: IdsOfRun<Linked> | undefined;
  /** The scan of a run. Throws what `selection` finds wrong. */
  readonly openScan: (selection: unknown, run: RunToScan) => Promise<Scan<unknown>>;
  readonly records: RecordRules;
  readonly columns: Columns;
  /** The options of `snapshot SOURCE`, in the order of its help. */
  readonly options: readonly RequestOption[];
  /** The options of a small snapshot of the reference platform, for the tour. */
  readonly sample: (records: SampleRecords) => readonly string[];
};

/** How a source is defined: as above, but its parts still know their types. */
export type SourceParts<
  Name extends string,
  F extends Fields,
  Linked extends string,
  Selection extends object,
  Column extends string,
> = Omit<
  SourceDefinition<Name, F, Linked>,
  'fields' | 'unboundedFields' | 'selection' | 'openScan' | 'records' | 'columns'
> & {
  /** The fields of a request; `list` makes the schemas of its lists. */
  readonly fields: (list: ListOf) => F;
  readonly selection: z.ZodMiniType<Selection>;
  /** Loads the code of the scan: nothing else may. */
  readonly openScan: (selection: NoInfer<Selection>, run: RunToScan) => Promise<Scan<unknown>>;
  readonly records: RecordRules<NoInfer<Column>>;
  readonly columns: Readonly<Record<Column, HiveType>>;
};

/**
 * A rule on several fields of a request, reported at the field `at`; checked on what came. `expected` names other fields
 * by `named`: as fields, or as options of the command.
 */
export type RequestRule = {
  readonly at: string;
  readonly expected: (named: (field: string) => string) => string;
  readonly holds: (request: Readonly<Record<string, unknown>>) => boolean;
};

/** What of a source a run takes. `ids`: those that the request gives, for a source that is read id by id. */
export type Selected = {
  readonly selection: Readonly<Record<string, unknown>>;
  readonly ids?: readonly string[] | undefined;
};

/** Where the ids come from that a run reads one by one. */
export type IdsOfRun<Linked extends string = string> = {
  /** The field of the request that gives them, and the member of the selection that names them. */
  readonly field: string;
  /** For a request that gives none: the whole last published run of another source. */
  readonly linked?: {
    readonly from: Linked;
    /** The ids that one of its records links to. */
    readonly idsIn: (record: unknown) => readonly string[];
  };
};

/** What a scan works with. */
export type RunToScan = {
  readonly call: Call;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** The ids of the run; none for a source that is not read id by id. */
  readonly ids: readonly string[];
  /** Rows that a page asks for, where the source has pages of rows. Default: the most that the platform allows. */
  readonly pageRows?: number | undefined;
};

/** How the records of a source are told from one another, compared, and shown to people. */
export type RecordRules<Column extends string = string> = {
  readonly key: RecordKey<Column>;
  /** The field that people know a record by. */
  readonly label: Column;
  /** Top-level fields that differ from one answer to the next although nothing changed: never compared. */
  readonly volatile: readonly Column[];
  /** Top-level arrays whose order and repeats mean nothing: compared as sets. */
  readonly sets: readonly Column[];
  /** True if a run is expected in the order of keys. It is checked all the same. */
  readonly inKeyOrder: boolean;
};

/** The fields of a record that make up its key: an id, after a slash where an owner comes before it. */
export type RecordKey<Column extends string = string> = {
  /** The fields that may name the owner; the first that is present does. Text. */
  readonly owner?: readonly Column[];
  readonly id: Column;
  /** True if the id is an integer of any size, compared as one; else it is text. */
  readonly isInteger: boolean;
};

/** A type as Hive writes it: the field names of a struct in the spelling of the platform. */
export type HiveType = string;

/**
 * The columns of the Glue table by the names of the records' fields; Glue keeps and compares names in lower case.
 *
 * An id is text: its digits as they came. Athena reads a number into a text column digit for digit, but turns one that a
 * bigint cannot hold into null. Times are as the contract has them: epoch milliseconds, or ISO 8601 text. A field that is
 * not named is not read; one whose value is no text in a text column is read as its JSON.
 */
export type Columns = Readonly<Record<string, HiveType>>;

/** An option of the command, and the field of the request that it sets. */
export type RequestOption = {
  readonly flags: string;
  readonly help: string;
  readonly field: string;
} & (
  | { readonly kind: 'text' }
  /** May be given again; each text is an entry. `read` gives undefined for a text that is not `expected`. */
  | {
      readonly kind: 'list';
      readonly entry?: { readonly expected: string; readonly read: (text: string) => unknown };
    }
  /** A file with an entry a line; `-` is standard input. */
  | { readonly kind: 'lines' }
  /** Takes no text: the field has this value if it is given. */
  | { readonly kind: 'switch'; readonly value: boolean }
);

/** Records of the reference platform, which samples name. */
export type SampleRecords = {
  readonly filesetIds: readonly string[];
  readonly datasetIds: readonly string[];
  readonly dataFileIds: readonly string[];
};
