import * as z from 'zod/mini';
import { checkedBy, each, faultsOf } from '../../base/index.ts';
import { type HiveType, type StoredName, storedTypes, type TableColumns, withOther } from '../../columns.ts';
import type { LinkedId } from '../../model/rules/index.ts';
import type { Call } from '../../platform/index.ts';
import type { EndpointName } from '../../platform/operations/index.ts';
import { StoredObjectError } from '../../store/index.ts';
import type { Scan } from '../scan.ts';

type Fields = z.core.$ZodShape;

/** A source as its own file defines it; the types of its parts are checked against one another. */
type Definition<
  Name extends string,
  F extends Fields,
  Columns extends TableColumns,
  Ids extends string,
  Linked extends string,
  Kind extends string,
> = {
  readonly name: Name;
  readonly operation: EndpointName;
  /** What a snapshot of the source contains, as a line of the help. */
  readonly takes: string;
  /**
   * The fields of a request; `list` creates the schemas of its lists. All fields but the ids are the
   * selection of a run.
   */
  readonly fields: (list: typeof each) => F;
  readonly rules: readonly RequestRule[];
  /**
   * The values of the options that narrow a run; undefined for an option that does not narrow it. A narrowed run never
   * becomes the last run of the whole source.
   */
  readonly narrowedBy: (request: Readonly<Record<string, unknown>>) => readonly unknown[];
  /** Where a run's ids come from, for a source that is read id by id. */
  readonly ids?: IdsOfRun<Ids, Linked>;
  /** Loads the code of the scan, and opens the scan. No other code may load it. */
  openScan(selection: Omit<z.output<z.ZodMiniObject<F>>, Ids>, run: RunToScan): Promise<Scan<unknown>>;
  /** The kind of its records in `where-used` and in links, such as `card`. */
  readonly kind: NoInfer<Kind>;
  /** The kinds of things that `where-used` finds in its records, including its own kind. */
  readonly names: readonly Kind[];
  /** The columns that contain the type, owner and FileSet of each record, spelled as in the tables. */
  readonly described: DescribedColumns;
  /** Its tables. A stored column has the name of the records' field. See `Columns`. */
  readonly table: {
    /** A noun phrase for one row, without the article, such as `card of a dataset`. */
    readonly row: string;
    readonly columns: Columns;
    /** Other names that users may try for the table. The error for an unknown table suggests the right one. */
    readonly guesses?: readonly string[];
  };
  readonly records: RecordRules<StoredName<NoInfer<Columns>>>;
  /** The options of `snapshot SOURCE`, in the order of the help. */
  readonly options: readonly RequestOption[];
  /** What follows `snapshot SOURCE` in the examples of its help. */
  readonly examples: readonly string[];
  /** The options with which the tour takes a small snapshot of the reference platform. */
  readonly sample: (records: {
    readonly filesetIds: readonly string[];
    readonly datasetIds: readonly string[];
    readonly dataFileIds: readonly string[];
  }) => readonly string[];
};

/**
 * Everything that the program knows about one source. `F`: the fields of a request; `Linked`: the source that
 * links to its ids.
 */
export type SourceDefinition<
  Name extends string = string,
  F extends Fields = Fields,
  Linked extends string = string,
  Kind extends string = string,
> = Omit<
  Definition<Name, F, TableColumns, string, Linked, Kind>,
  'fields' | 'openScan' | 'records' | 'table'
> & {
  readonly table: {
    readonly row: string;
    readonly columns: TableColumns;
    readonly guesses?: readonly string[];
  };
  readonly records: RecordRules;
  /** The stored columns: the records' fields, values computed from them, and `_other`. See `Columns`. */
  readonly columns: Columns;
  /** The fields of a request that is sent as a message: its lists are bounded. */
  readonly fields: F;
  /** The fields of a request that is not sent as a message: its lists may have any length. */
  readonly unboundedFields: F;
  /** Opens the scan of a run. Throws if `selection`, read from a checkpoint, has other members than a request. */
  readonly openScan: (selection: unknown, run: RunToScan) => Promise<Scan<unknown>>;
};

/** Schema of a list of any length that may contain duplicates, for requests that are not sent as a message. */
const anyNumberOf: typeof each = (schema, { error }) => z.array(schema, { error });

/** Creates a source from its definition, and adds what can be derived from it. */
export function defineSource<
  const Name extends string,
  F extends Fields,
  const Columns extends TableColumns,
  const Ids extends string = never,
  const Linked extends string = never,
  const Kind extends string = string,
>(source: Definition<Name, F, Columns, Ids, Linked, Kind>): SourceDefinition<Name, F, Linked, Kind> {
  const unboundedFields = source.fields(anyNumberOf);
  const ids = source.ids === undefined ? {} : { [source.ids.field]: z.unknown() };
  const stored = z.strictObject({ ...unboundedFields, ...ids });
  return {
    ...source,
    columns: withOther(storedTypes(source.table.columns)),
    fields: source.fields(each),
    unboundedFields,
    openScan: async (selection, run) => source.openScan(stored.parse(selection) as never, run),
  };
}

/**
 * A rule about several fields of a request, as received. `named` returns how to name another field in the message: by
 * its own name, or by the command's option.
 */
type RequestRule = {
  readonly at: string;
  readonly expected: (named: (field: string) => string) => string;
  readonly holds: (request: Readonly<Record<string, unknown>>) => boolean;
};

/** The columns with the type, the owner and the FileSet of a record; absent if the source has none. */
type DescribedColumns = {
  readonly type?: string;
  readonly owner?: string;
  readonly fileset?: string;
};

type IdsOfRun<Field extends string, Linked extends string> = {
  /** The field of the request that has the ids. The selection of a run describes them in a member of the same name. */
  readonly field: Field;
  /** For a request without ids: another source, whose last published run provides them. Default: ids are required. */
  readonly linked?: {
    readonly from: Linked;
    /** The top-level fields of the linked source's records that contain links, and the ids that a record links to. */
    readonly fields: readonly string[];
    readonly idsIn: (record: unknown) => readonly LinkedId[];
  };
};

/** What a scan needs besides the selection. */
export type RunToScan = {
  readonly call: Call;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** The ids of the run; empty for a source that is not read id by id. */
  readonly ids: readonly string[];
  /** The number of rows that each page requests, if the source has pages. Default: the platform's maximum. */
  readonly pageRows?: number | undefined;
};
/** How the records of a source are identified and compared. */
export type RecordRules<Column extends string = string> = {
  readonly key: RecordKey<Column>;
  readonly label: Column;
  /** Top-level fields that are not compared, because they differ between responses even if nothing has changed. */
  readonly volatile: readonly Column[];
  /** Top-level arrays that are compared as sets, because their order and duplicates have no meaning. */
  readonly sets: readonly Column[];
};

/** The fields of a record that form its key: an id, preceded by an owner and a slash if the source has owners. */
export type RecordKey<Column extends string = string> = {
  /** The fields that may have the owner's id, a string; the first field that is present is used. */
  readonly owner?: readonly Column[];
  readonly id: Column;
  /** Whether the id is an integer of any size, and is compared as an integer; otherwise it is a string. */
  readonly isInteger: boolean;
};

/**
 * The columns of a source's tables, in order, by the names of the records' fields. Glue and Parquet have the names in
 * lower case.
 *
 * An id is a string: its digits as received. Times are as the platform sends them: epoch milliseconds, or ISO 8601. The
 * columns after the fields are computed from the fields:
 *
 * - `FIELD_at`, a timestamp: the time that `FIELD` gives in epoch milliseconds; null outside the years 1 to 9999
 * - `_other`, a string: a JSON object of the members that have no column or do not fit their column, byte for byte as
 *   received; null if there are no such members. A value that does not fit is null in its own column.
 *
 * Columns are only ever appended, and no field of a struct is ever added, removed or moved, because Glue would read the
 * partitions of older runs wrongly.
 */
export type Columns = Readonly<Record<string, HiveType>>;

/** An option of the command, and the field of the request that it sets. An option without a `<value>` is a switch. */
type RequestOption = {
  readonly field: string;
  readonly flags: string;
  readonly help: string;
  /**
   * `list`: may be repeated, once for each entry; `ids`: a file with ids, `-` is standard input; `column`: the
   * column of that file with the ids.
   */
  readonly kind?: 'list' | 'ids' | 'column';
  /** How ids are found in a file, for the kind `ids`. */
  readonly ids?: {
    /** Possible names of the column with the ids, as lower-case letters only. */
    readonly columns: readonly string[];
    readonly isId: (text: string) => boolean;
    readonly expected: string;
    /** The option with which a user gives the column's name. */
    readonly flag: string;
  };
  /** How an entry of a list is parsed. `read` returns undefined for an invalid entry. */
  readonly entry?: { readonly expected: string; readonly read: (text: string) => unknown };
};

/**
 * Wraps a scan so that it can resume from a position that was stored as JSON. Throws `StoredObjectError` if a
 * position does not match the schema.
 */
export const resumable =
  <Position>(scan: Scan<Position>, schema: z.ZodMiniType<Position>): Scan<unknown> =>
  (start) =>
    scan({ ...start, from: start.from === undefined ? undefined : positionOf(start.from, schema) });

function positionOf<Position>(stored: unknown, schema: z.ZodMiniType<Position>): Position {
  const { data, error } = checkedBy(schema, stored);
  if (error === undefined) return data;
  const faults = faultsOf(error, stored).join('; ');
  throw new StoredObjectError('invalid', `the position of a checkpoint: ${faults}`);
}
