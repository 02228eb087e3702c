import { CLOCK_UNITS, castTypeOf, entryOf } from './catalog.ts';
import { commonType, widestNumber } from './common-type.ts';
import type { ColumnTypes, DataType } from './data-type.ts';
import { precedence, precedenceOf } from './precedence.ts';
import type { Call, Expression, Operation } from './syntax.ts';

/**
 * The type of a formula's values, as MySQL would infer it. (assumed) A type that the formula does not determine, such
 * as that of another calculation or of a column that is not in `columnTypes`, is DECIMAL in arithmetic, DATE where an
 * interval moves it, and STRING elsewhere.
 */
export function dataTypeOf(formula: Expression, columnTypes: ColumnTypes = new Map()): DataType {
  return inferred(formula, columnTypes) ?? 'STRING';
}

/** As above, but undefined if the formula does not determine it. */
function inferred(node: Expression, columnTypes: ColumnTypes): DataType | undefined {
  const typeOf = (part: Expression) => inferred(part, columnTypes);
  switch (node.kind) {
    case 'column':
      return columnTypes.get(node.name);
    case 'number':
      return /^[\d.]+e/i.test(node.source) ? 'DOUBLE' : node.source.includes('.') ? 'DECIMAL' : 'LONG';
    case 'text':
      return 'STRING';
    case 'constant':
      return node.value === 'NULL' ? undefined : 'LONG';
    case 'negation':
      return widestNumber([typeOf(node.operand)]);
    case 'not':
    case 'in':
    case 'like':
    case 'between':
      return 'LONG';
    case 'operation':
      return typeOfOperation(node, typeOf);
    case 'case':
      return commonType(
        [...node.branches.map(({ result }) => result), node.otherwise].map((part) => part && typeOf(part)),
      );
    case 'call':
      return typeOfCall(node, typeOf);
    case 'fixed':
    case 'window':
      return typeOf(node.call);
    case 'word':
      return castTypeOf(node.text);
    case 'phrase':
      return node.parts[0] && typeOf(node.parts[0]);
    case 'interval':
    case 'star':
      return undefined;
    default:
      return node satisfies never;
  }
}

type TypeOf = (part: Expression) => DataType | undefined;

function typeOfOperation(node: Operation, typeOf: TypeOf): DataType | undefined {
  if (precedenceOf(node) < precedence.sum) return 'LONG'; // a truth value
  const operands = [node.first, ...node.rest.map(({ operand }) => operand)];
  if (operands.some(({ kind }) => kind === 'interval')) return typeOfMoved(operands, typeOf);
  const widest = widestNumber(operands.map(typeOf));
  const divides = node.rest.some(({ operator }) => operator === '/');
  return divides && widest === 'LONG' ? 'DECIMAL' : widest;
}

function typeOfCall({ name, args }: Call, typeOf: TypeOf): DataType | undefined {
  const result = entryOf(name)?.result ?? 'unknown';
  switch (result) {
    case 'unknown':
      return undefined;
    case 'first':
      return args.slice(0, 1).map(typeOf)[0];
    case 'common':
      return commonType(args.map(typeOf));
    case 'widest':
      return widestNumber(args.map(typeOf));
    case 'values':
      return commonType(args.slice(1).map(typeOf));
    case 'cast':
      return typeOfCast(args, typeOf);
    case 'moved':
      return typeOfMoved(args, typeOf);
    default:
      return result;
  }
}

/** Of CAST(… AS type) and CONVERT(…, type): the type is the last word. */
function typeOfCast(args: readonly Expression[], typeOf: TypeOf): DataType | undefined {
  const last = args.at(-1);
  const type = last?.kind === 'phrase' ? last.parts.at(-1) : last;
  return type && typeOf(type);
}

/** A date and the intervals that move it: a DATETIME if it was one, or if an interval changes the time of day. */
function typeOfMoved(parts: readonly Expression[], typeOf: TypeOf): DataType {
  const hasClock = parts.some((part) =>
    part.kind === 'interval' ? CLOCK_UNITS.has(part.unit) : typeOf(part) === 'DATETIME',
  );
  return hasClock ? 'DATETIME' : 'DATE';
}
