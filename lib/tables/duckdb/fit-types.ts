import { epochMoment, momentOf } from '../../columns.ts';
import type { View } from '../catalog/view.ts';
import { duckDbSql } from './query-text.ts';
import {
  comparedIn,
  meaningOf,
  nodesIn,
  positionOf,
  type QueryNode,
  type QueryTree,
  type Scope,
  scopedNodes,
} from './query-tree.ts';

/** Replaces the bytes of a query from `from` up to, but not including, `to`. */
type Edit = { readonly from: number; readonly to: number; readonly text: string };

/** The bytes of a query, and the scope of names at the current node. */
type Query = { readonly bytes: Buffer; readonly scope: Scope };

/**
 * Rewrites a query so that ids can be compared with numbers, and epoch milliseconds with times. Otherwise DuckDB would
 * cast the id column to a number, and fail at the first id that is not one. For `<`, `>` and BETWEEN, ids are compared
 * as numbers.
 */
export function fitTypes(sql: string, tree: QueryTree, views: readonly View[]): string {
  const bytes = Buffer.from(sql);
  const edits = [...scopedNodes(tree.root, views)].flatMap(([node, scope]) => [
    ...editsOf(node, { bytes, scope }),
  ]);
  return applyEdits(bytes, edits);
}

const ORDER_COMPARISON =
  /^COMPARE_(?:GREATERTHAN|LESSTHAN|GREATERTHANOREQUALTO|LESSTHANOREQUALTO|BETWEEN|NOT_BETWEEN)$/;

function* editsOf(node: QueryNode, query: Query): Generator<Edit> {
  const { type = '', children = [], child } = node;
  if (type === 'BASE_TABLE') yield* listingEdits(node, query);
  for (const compared of comparedIn(node)) yield* comparedEdits(compared, query);
  if (type === 'FUNCTION' && takesTimes(node, query.scope))
    for (const each of children) yield* momentEdits(each, query);
  else if (type === 'OPERATOR_CAST' && isTimeType(node) && child !== undefined)
    yield* momentEdits(child, query);
}

function* comparedEdits(
  { type, operand, others }: ReturnType<typeof comparedIn>[number],
  query: Query,
): Generator<Edit> {
  const column = meaningOf(operand, query.scope)?.column;
  if (column === undefined) return;
  if (others.some((other) => isTime(other, query.scope))) yield* momentEdits(operand, query);
  const digits = others.flatMap((other) => digitsAt(other, query) ?? []);
  if (column.type !== 'string' || digits.length === 0) return;
  if (!ORDER_COMPARISON.test(type)) yield* digits;
  else if (column.isId && digits.length === others.length) {
    const name = nameAt(operand, query);
    if (name !== undefined) yield { ...name, text: `TRY_CAST(${name.text} AS HUGEINT)` };
  }
}

const LISTINGS = /^(?:tables|columns|views)$/i;

/** Restricts a listing of tables to the tables meant for users. */
function* listingEdits(node: QueryNode, query: Query): Generator<Edit> {
  const { schema_name: schema = '', table_name: table = '', alias } = node;
  if (schema.toLowerCase() !== 'information_schema' || !LISTINGS.test(table)) return;
  const name = nameAt(node, query);
  const shown = `(FROM information_schema.${table} WHERE table_schema = 'main')`;
  if (name !== undefined) yield { ...name, text: alias ? shown : `${shown} AS ${table}` };
}

/**
 * Replaces a column of epoch milliseconds by the timestamp column of the same time, or by an expression that converts
 * it.
 */
function* momentEdits(node: QueryNode, query: Query): Generator<Edit> {
  const meant = meaningOf(node, query.scope);
  const name = meant?.column.moment === undefined ? undefined : nameAt(node, query);
  if (meant === undefined || name === undefined) return;
  const { column, hasMoment } = meant;
  if (hasMoment) yield { ...name, text: name.text.replace(/[^.\s]+$/, column.moment ?? '') };
  else yield { ...name, text: duckDbSql((column.type === 'string' ? momentOf : epochMoment)(name.text)) };
}

const PART = String.raw`(?:"(?:[^"]|"")*"|[\p{L}_][\p{L}\p{N}_$]*)`;
const NAME = new RegExp(String.raw`^${PART}(?:\s*\.\s*${PART})*`, 'u');

const nameAt = (node: QueryNode, query: Query): Edit | undefined => pieceAt(node, query, NAME);

/** The edit that puts an integer constant in quotes, so that it can be compared with ids, which are strings. */
function digitsAt(node: QueryNode, query: Query): Edit | undefined {
  if (node.type !== 'VALUE_CONSTANT') return undefined;
  const piece = pieceAt(node, query, /^\d+(?![\d.eE_])/);
  return piece && { ...piece, text: `'${BigInt(piece.text)}'` };
}

function pieceAt(node: QueryNode, { bytes }: Query, pattern: RegExp): Edit | undefined {
  const from = positionOf(node);
  const [text] = from === undefined ? [] : (pattern.exec(bytes.toString('utf8', from)) ?? []);
  return from === undefined || text === undefined
    ? undefined
    : { from, to: from + Buffer.byteLength(text), text };
}

const TIME_FUNCTIONS =
  /^(?:now|today|current_date|current_timestamp|get_current_timestamp|date_trunc|datetrunc|make_date|make_timestamp|to_timestamp|epoch_ms|strptime|date_add|date_sub)$/i;
const FUNCTIONS_OF_TIMES =
  /^(?:date_trunc|datetrunc|date_part|datepart|date_diff|datediff|date_sub|datesub|age|year|quarter|month|week|weekofyear|yearweek|day|dayofmonth|dayofweek|dayofyear|dayname|monthname|hour|minute|last_day|strftime|time_bucket)$/i;
/** Matches a string that begins like a time, or that is only a year, which DuckDB would read as a number. */
const TIME = /^\d{4}(?:$|-\d\d)/;

const isTimeType = ({ cast_type: to }: QueryNode): boolean => /^(?:DATE|TIMESTAMP)/.test(to?.id ?? '');

/** Whether a function computes with times: according to its name, or because it adds to or subtracts from a time. */
const takesTimes = ({ function_name: name = '', children = [] }: QueryNode, scope: Scope): boolean =>
  FUNCTIONS_OF_TIMES.test(name) || (/^[-+]$/.test(name) && children.some((child) => isTime(child, scope)));

/**
 * Whether an expression seems to be a time: it contains a date in quotes, a cast to a time, a function that returns a
 * time, or a column of times.
 */
const isTime = (expression: QueryNode, scope: Scope): boolean =>
  nodesIn(expression).some((node) => {
    const { type, value, function_name: name = '', column_names: names = [] } = node;
    if (type === 'VALUE_CONSTANT' && typeof value?.value === 'string') return TIME.test(value.value);
    if (type === 'OPERATOR_CAST') return isTimeType(node);
    if (meaningOf(node, scope)?.column.type === 'timestamp') return true;
    return TIME_FUNCTIONS.test(type === 'COLUMN_REF' && names.length === 1 ? (names[0] ?? '') : name);
  });

/** Applies edits. If edits overlap, only the first one is applied. */
function applyEdits(bytes: Buffer, edits: readonly Edit[]): string {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const { from, to, text } of edits.toSorted((a, b) => a.from - b.from)) {
    if (from < at) continue;
    pieces.push(bytes.subarray(at, from), Buffer.from(text));
    at = to;
  }
  return Buffer.concat([...pieces, bytes.subarray(at)]).toString();
}
