import { nearestName } from '../base/index.ts';
import {
  CLOCK_UNITS,
  catalog,
  DAY_UNITS,
  DISTINCT_FUNCTIONS,
  entryOf,
  type FunctionEntry,
  INTERVAL_FUNCTIONS,
  referenceKindOf,
} from './catalog.ts';
import { type Objection, shown } from './fault.ts';
import { precedence, precedenceOf } from './precedence.ts';
import type { Call, Expression, Fixed } from './syntax.ts';
import { isAggregate, type PlacedNode, walk } from './walk.ts';

/**
 * Checks what the grammar cannot express, in the order of the text: what is missing, which is a fault, and what the
 * platform may refuse: functions, what they take, and FIXED, OVER and INTERVAL in other places.
 */
export function* check(formula: Expression): Generator<Objection & { isFault: boolean }, void, undefined> {
  for (const place of walk(formula)) {
    const { offset } = place.node;
    const missing = missingIn(place.node);
    const message = missing ?? doubtOf(place);
    if (message !== undefined) yield { offset, message, isFault: missing !== undefined };
  }
}

function missingIn(node: Expression): string | undefined {
  if (node.kind === 'column' && node.name === '') return 'Expected a column name between the backticks.';
  if (node.kind !== 'call') return undefined;
  const entry = entryOf(node.name);
  // `SUBSTRING(a FROM 2)` has several values in one argument.
  const isShort = entry !== undefined && node.args.length < entry.least && node.args.at(0)?.kind !== 'phrase';
  return isShort ? argumentsOf(node, entry) : undefined;
}

function doubtOf(place: PlacedNode): string | undefined {
  const { node } = place;
  switch (node.kind) {
    case 'call':
      return doubtOfCall(node, place.parent);
    case 'fixed':
      return doubtOfFixed(node, place.inAggregate);
    case 'interval':
      return doubtOfInterval(node.unit, place);
    default:
      return undefined;
  }
}

function doubtOfCall(call: Call, parent: Expression | undefined): string | undefined {
  const entry = entryOf(call.name);
  if (!entry?.isDocumented) return unknownFunction(call.name);
  return (
    doubtOfArguments(call, entry) ??
    doubtOfWindow(call, entry, parent?.kind === 'window' && parent.call === call)
  );
}

function unknownFunction(name: string): string {
  const nearest = nearestName(name, catalog.keys());
  return `The platform is not known to have a function ${shown(name)}${nearest === undefined ? '.' : `: did you mean ${nearest}?`}`;
}

function doubtOfArguments(call: Call, entry: FunctionEntry): string | undefined {
  const { name, args, distinct } = call;
  const [first, second] = args;
  // MySQL counts the distinct combinations of several.
  if (args.length > entry.most && !(name === 'COUNT' && distinct)) return argumentsOf(call, entry);
  if (distinct && !DISTINCT_FUNCTIONS.has(name)) return `${name} is not known to take DISTINCT.`;
  if (first?.kind === 'star' && (name !== 'COUNT' || distinct)) return `${name} does not take "*" here.`;
  if (entry.kind === 'reference' && idOf(call) === undefined)
    return `${name} takes the numeric id of a ${referenceKindOf(name)}.`;
  if (
    name === 'HLL_SKETCH_INIT' &&
    second?.kind === 'number' &&
    !(Number(second.source) >= 4 && Number(second.source) <= 21)
  )
    return `${name} takes a precision from 4 to 21, but got ${shown(second.source)}.`;
  return undefined;
}

/** The id that a reference names: decimal digits, without leading zeros. Undefined if it names none. */
export function idOf({ args: [id] }: Call): string | undefined {
  const digits = id?.kind === 'number' ? id.source : id?.kind === 'text' ? id.value : '';
  return /^\d+$/.test(digits) ? digits.replace(/^0+(?=\d)/, '') : undefined;
}

function argumentsOf({ name, args }: Call, { least, most }: FunctionEntry): string {
  const plural = (count: number) => `argument${count === 1 ? '' : 's'}`;
  const count =
    most === Number.POSITIVE_INFINITY
      ? `at least ${least} ${plural(least)}`
      : `${least === most ? '' : `${least} to `}${most} ${plural(most)}`;
  return `${name} takes ${count}, but got ${args.length}.`;
}

function doubtOfWindow(call: Call, entry: FunctionEntry, hasOver: boolean): string | undefined {
  if (entry.kind === 'window' && !hasOver) return `Expected OVER (…) after ${call.name}.`;
  const mayHaveOver = entry.kind === 'window' || entry.kind === 'aggregate';
  return hasOver && !mayHaveOver ? `${call.name} does not take OVER.` : undefined;
}

function doubtOfFixed({ call, columns, filtered = [] }: Fixed, inAggregate: boolean): string | undefined {
  // A column may be another calculation.
  if (![...columns, ...filtered].every(({ kind }) => kind === 'column' || kind === 'call'))
    return 'FIXED takes columns after BY, ADD, REMOVE, ALLOW and DENY.';
  if (!isAggregate(call)) return `Expected an aggregate such as SUM before FIXED, but got ${call.name}.`;
  return inAggregate ? undefined : 'FIXED is allowed only inside an aggregate, as in SUM(SUM(…) FIXED (…)).';
}

function doubtOfInterval(unit: string, { node, parent }: PlacedNode): string | undefined {
  if (!DAY_UNITS.has(unit) && !CLOCK_UNITS.has(unit)) {
    const nearest = nearestName(unit, [...DAY_UNITS, ...CLOCK_UNITS]);
    return `There is no unit ${shown(unit)}${nearest === undefined ? '.' : `: did you mean ${nearest}?`}`;
  }
  const isMoving =
    parent?.kind === 'call'
      ? INTERVAL_FUNCTIONS.has(parent.name) && parent.args[1] === node
      : parent?.kind === 'operation' && precedenceOf(parent) === precedence.sum;
  return isMoving
    ? undefined
    : `INTERVAL is allowed only next to + or -, or as the second argument of ${[...INTERVAL_FUNCTIONS].join(', ')}.`;
}
