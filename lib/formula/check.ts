import { nearestName } from '../base/index.ts';
import {
  CLOCK_UNITS,
  catalog,
  DAY_UNITS,
  DISTINCT_FUNCTIONS,
  type FunctionEntry,
  INTERVAL_FUNCTIONS,
} from './catalog.ts';
import { shown } from './fault.ts';
import type { Objection } from './objection.ts';
import { precedence, precedenceOf } from './precedence.ts';
import type { Call, Expression } from './syntax.ts';
import { isAggregate, type PlacedNode, walk } from './walk.ts';

/**
 * Checks what the grammar cannot express: which functions exist, what they take, and where FIXED, OVER and INTERVAL
 * are allowed. Yields every objection in the order of the text.
 */
export function* check(formula: Expression): Generator<Objection, void, undefined> {
  for (const place of walk(formula)) {
    const message = objectionTo(place);
    if (message !== undefined) yield { offset: place.node.offset, message };
  }
}

function objectionTo(place: PlacedNode): string | undefined {
  const { node } = place;
  switch (node.kind) {
    case 'column':
      return node.name === '' ? 'Expected a column name between the backticks.' : undefined;
    case 'call':
      return objectionToCall(node, place.parent);
    case 'fixed':
      return objectionToFixed(node.call, place.inAggregate);
    case 'interval':
      return objectionToInterval(node.unit, place);
    default:
      return undefined;
  }
}

function objectionToCall(call: Call, parent: Expression | undefined): string | undefined {
  const entry = catalog.get(call.name);
  if (entry === undefined) return unknownFunction(call.name);
  return (
    objectionToArguments(call, entry) ??
    objectionToWindow(call, entry, parent?.kind === 'window' && parent.call === call)
  );
}

function unknownFunction(name: string): string {
  const nearest = nearestName(name, catalog.keys());
  return `There is no function ${shown(name)}${nearest === undefined ? '.' : `: did you mean ${nearest}?`}`;
}

function objectionToArguments(call: Call, entry: FunctionEntry): string | undefined {
  const { name, args, distinct } = call;
  const [first] = args;
  if (args.length < entry.least || args.length > entry.most) {
    return `${name} takes ${countOf(entry)}, but got ${args.length}.`;
  }
  if (distinct && !DISTINCT_FUNCTIONS.has(name)) return `${name} does not take DISTINCT.`;
  if (first?.kind === 'star' && (name !== 'COUNT' || distinct)) return `${name} does not take "*" here.`;
  if (entry.kind === 'reference' && !(first?.kind === 'number' && /^\d+$/.test(first.source))) {
    return `${name} takes the numeric id of a ${name.toLowerCase()}.`;
  }
  return undefined;
}

function countOf({ least, most }: FunctionEntry): string {
  if (most === Number.POSITIVE_INFINITY) return `at least ${least} argument${least === 1 ? '' : 's'}`;
  return `${least === most ? '' : `${least} to `}${most} argument${most === 1 ? '' : 's'}`;
}

function objectionToWindow(call: Call, entry: FunctionEntry, hasOver: boolean): string | undefined {
  if (entry.kind === 'window' && !hasOver) return `Expected OVER (…) after ${call.name}.`;
  const mayHaveOver = entry.kind === 'window' || entry.kind === 'aggregate';
  return hasOver && !mayHaveOver ? `${call.name} does not take OVER.` : undefined;
}

function objectionToFixed(call: Call, inAggregate: boolean): string | undefined {
  if (!isAggregate(call)) return `Expected an aggregate such as SUM before FIXED, but got ${call.name}.`;
  return inAggregate ? undefined : 'FIXED is allowed only inside an aggregate, as in SUM(SUM(…) FIXED (…)).';
}

function objectionToInterval(unit: string, { node, parent }: PlacedNode): string | undefined {
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
