import type * as z from 'zod/mini';
import type { ListOf } from '../../base/index.ts';
import type { EndpointName } from '../../platform/endpoints.ts';
import type { Call } from '../../platform/index.ts';
import type { Scan } from '../scan.ts';

/** The fields that a request of one source has in addition to those of every request, each with its schema. */
export type Fields = z.core.$ZodShape;

/** A request with these fields after validation. */
type Checked<F extends Fields> = z.output<z.ZodMiniObject<F, z.core.$strict>>;

/**
 * The data of a source, with its exact types. It comes before the other parts, so that the compiler reports a part that
 * is missing or does not fit by its name.
 */
export type SourceData<
  Name extends string,
  F extends Fields,
  Linked extends string,
  Selection extends object,
  Column extends string,
> = {
  readonly name: Name;
  /** The operation of the platform that it is read by. */
  readonly operation: EndpointName;
  /** The fields of a request; `list` makes the schemas of its lists. */
  readonly fields: (list: ListOf) => F;
  /** The schema of the selection that a run's checkpoint and manifest store. */
  readonly selection: z.ZodMiniType<Selection>;
  /** For a source that is read id by id. */
  readonly ids?: IdsOfRun<Linked> | undefined;
  readonly columns: Readonly<Record<Column, HiveType>>;
};

/** The other parts of a source, typed by its data. */
export type SourceParts<F extends Fields, Selection extends object, Column extends string> = {
  /** What a snapshot of it takes, as one line of the help. */
  readonly takes: string;
  readonly rules: readonly RequestRule[];
  /** What a run of the request takes from the source. */
  selectionOf(request: Checked<F>): Selected;
  /** Loads the code of the scan, which nothing else may load. */
  readonly openScan: (selection: Selection, run: RunToScan) => Promise<Scan<unknown>>;
  readonly records: RecordRules<Column>;
  /** The options of `snapshot SOURCE`, in the order of the help. */
  readonly options: readonly RequestOption[];
  /** The options of a small snapshot of the reference platform, for the tour. */
  readonly sample: (records: SampleRecords) => readonly string[];
};

/**
 * All that the program knows about one source. Its requests, messages, schedules and command, its runs and their
 * comparison, its Glue table and its part of the tour are made from this. `F`: the fields of a request; `Linked`: the
 * source whose records link to its ids.
 */
export type SourceDefinition<
  Name extends string = string,
  F extends Fields = Fields,
  Linked extends string = string,
> = Omit<SourceData<Name, F, Linked, object, string>, 'fields'> &
  Omit<SourceParts<F, object, string>, 'openScan'> & {
    /** The fields of a request that is sent as a message: its lists are bounded. */
    readonly fields: F;
    /** The same fields where nothing is sent: lists may have any length. */
    readonly unboundedFields: F;
    /** The scan of a run. Throws if `selection` does not match its schema. */
    readonly openScan: (selection: unknown, run: RunToScan) => Promise<Scan<unknown>>;
  };

/**
 * A rule on several fields of a request, checked on the request as received and reported at the field `at`. `expected`
 * names other fields through `named`: as fields, or as options of the command.
 */
export type RequestRule = {
  readonly at: string;
  readonly expected: (named: (field: string) => string) => string;
  readonly holds: (request: Readonly<Record<string, unknown>>) => boolean;
};

/** What a run takes from a source. `ids`: those of the request, for a source that is read id by id. */
export type Selected = {
  readonly selection: Readonly<Record<string, unknown>>;
  readonly ids?: readonly string[] | undefined;
};

/** Where a run gets the ids that it reads one by one. */
type IdsOfRun<Linked extends string = string> = {
  /** The field of the request that contains them, and the member of the selection that names them. */
  readonly field: string;
  /** For a request without ids: the last published run of another whole source. */
  readonly linked?: {
    readonly from: Linked;
    /** The top-level fields of its records that have the links, and the ids that a record of these links to. */
    readonly fields: readonly string[];
    readonly idsIn: (record: unknown) => readonly string[];
  };
};

/** What a scan needs. */
export type RunToScan = {
  readonly call: Call;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** The ids of the run; none for a source that is not read id by id. */
  readonly ids: readonly string[];
  /** How many rows each page requests, if the source has pages of rows. Default: the most that the platform allows. */
  readonly pageRows?: number | undefined;
};

/** How the records of a source are distinguished, compared, and shown to people. */
export type RecordRules<Column extends string = string> = {
  readonly key: RecordKey<Column>;
  /** The field that people know a record by. */
  readonly label: Column;
  /** Top-level fields that differ between responses although nothing has changed: never compared. */
  readonly volatile: readonly Column[];
  /** Top-level arrays whose order and duplicates mean nothing: compared as sets. */
  readonly sets: readonly Column[];
  /** True if a run is expected to be in key order. The order is checked all the same. */
  readonly inKeyOrder: boolean;
};

/** The fields of a record that make up its key: an id, preceded by an owner and a slash if it has an owner. */
export type RecordKey<Column extends string = string> = {
  /** The fields that may name the owner; the first one present is used. Text. */
  readonly owner?: readonly Column[];
  readonly id: Column;
  /** True if the id is an integer of any size, and compared as one; otherwise it is text. */
  readonly isInteger: boolean;
};

/** A type in Hive's notation; the field names of a struct are spelled as on the platform. */
export type HiveType = string;

/**
 * The columns of a source's tables, in order, by the names of the records' fields. Glue and Parquet have the names in
 * lower case.
 *
 * An id is text: its digits as received. Times are as in the contract: epoch milliseconds, or ISO 8601 text. The columns
 * after the fields are made of them:
 *
 * - `FIELD_at`, of type timestamp: the same moment as the epoch milliseconds of `FIELD`; null outside the years 1 to 9999.
 * - `_other`, text: the members that have no column or do not fit theirs, byte for byte as received, as a JSON object;
 *   null if there are none. A value that does not fit is null in its own column.
 *
 * Columns are only ever appended, and no field of a struct is ever added, removed or moved: Glue would read the
 * partitions of older runs wrongly.
 */
export type Columns = Readonly<Record<string, HiveType>>;

/** An option of the command, and the field of the request that it sets. */
export type RequestOption = {
  readonly flags: string;
  readonly help: string;
  readonly field: string;
} & (
  | { readonly kind: 'text' }
  /** May be repeated; each text is an entry. `read` returns undefined for a text that is not `expected`. */
  | {
      readonly kind: 'list';
      readonly entry?: { readonly expected: string; readonly read: (text: string) => unknown };
    }
  /** A file with one entry a line; `-` is standard input. */
  | { readonly kind: 'lines' }
  /** Takes no text: if it is given, the field has this value. */
  | { readonly kind: 'switch'; readonly value: boolean }
);

/** The ids of the reference platform's records that samples may use. */
type SampleRecords = {
  readonly filesetIds: readonly string[];
  readonly datasetIds: readonly string[];
  readonly dataFileIds: readonly string[];
};
