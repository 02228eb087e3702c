const FIELDS = 'an object of fields, each with a list of matching values or a further object';
const VALUE = 'text, a number, true, false, null or a match type such as {"prefix": "a"}';
const TYPE =
  'exactly one of the match types exactly, prefix, suffix, equals-ignore-case, wildcard, anything-but, numeric, cidr or exists';
const AFFIX = 'text, or {"equals-ignore-case": text}';
const WILDCARD = 'text in which no two * follow each other, and \\ stands only before * or \\';
const NUMERIC =
  '["=", number], one bound such as [">", 0], or a lower and a higher one, such as [">", 0, "<=", 5]';
const BUT =
  'texts or numbers, not both, or one of {"prefix": …}, {"suffix": …}, {"equals-ignore-case": …}, {"wildcard": …} with texts';
const CIDR = 'ADDRESS/BITS with at most 31 bits for IPv4 and 127 for IPv6, such as "10.0.0.0/24"';

/** Patterns that EventBridge rejects, as JSON values, with their faults: the path, and what was expected. */
export const invalidPatterns: readonly (readonly [pattern: unknown, ...faults: readonly string[]])[] = [
  [{}, `: ${FIELDS}`],
  [['a'], `: ${FIELDS}`],
  ['a', `: ${FIELDS}`],
  [null, `: ${FIELDS}`],
  [{ source: 'a' }, `source: ${FIELDS}`],
  [{ a: { b: 5 } }, `a.b: ${FIELDS}`],
  [{ source: [] }, 'source: at least one value that matches'],
  [{ a: { b: {} } }, `a.b: ${FIELDS}`],
  [{ a: [['b']] }, `a.0: ${VALUE}`],
  [{ a: [{ contains: 'b' }] }, `a.0: ${TYPE}`],
  [{ a: [{ constructor: 'b' }] }, `a.0: ${TYPE}`],
  [{ a: [{}] }, `a.0: ${TYPE}`],
  [{ a: [{ prefix: 'b', suffix: 'c' }] }, `a.0: ${TYPE}`],
  [{ a: [{ prefix: 1 }] }, `a.0.prefix: ${AFFIX}`],
  [{ a: [{ prefix: ['b'] }] }, `a.0.prefix: ${AFFIX}`],
  [{ a: [{ suffix: { 'equals-ignore-case': 'b', x: 1 } }] }, `a.0.suffix: ${AFFIX}`],
  [{ a: [{ suffix: { prefix: 'b' } }] }, `a.0.suffix: ${AFFIX}`],
  [{ a: [{ 'equals-ignore-case': null }] }, 'a.0.equals-ignore-case: text'],
  [{ a: [{ exactly: 1 }] }, 'a.0.exactly: text'],
  [{ a: [{ wildcard: 'a**b' }] }, `a.0.wildcard: ${WILDCARD}`],
  [{ a: [{ wildcard: 'a\\b' }] }, `a.0.wildcard: ${WILDCARD}`],
  [{ a: [{ wildcard: 'a\\' }] }, `a.0.wildcard: ${WILDCARD}`],
  [{ a: [{ numeric: ['!', 5] }] }, `a.0.numeric: ${NUMERIC}`],
  [{ a: [{ numeric: ['toString', 5] }] }, `a.0.numeric: ${NUMERIC}`],
  [{ a: [{ numeric: ['>', 5, '<', 5] }] }, `a.0.numeric: ${NUMERIC}`],
  [{ a: [{ numeric: ['>=', 5, '<=', 4] }] }, `a.0.numeric: ${NUMERIC}`],
  [{ a: [{ numeric: ['<', 5, '>', 0] }] }, `a.0.numeric: ${NUMERIC}`],
  [{ a: [{ numeric: ['>', 0, '>', 5] }] }, `a.0.numeric: ${NUMERIC}`],
  [{ a: [{ numeric: ['=', 0, '<', 5] }] }, `a.0.numeric: ${NUMERIC}`],
  [{ a: [{ numeric: ['>', '5'] }] }, `a.0.numeric: ${NUMERIC}`],
  [{ a: [{ numeric: [] }] }, `a.0.numeric: ${NUMERIC}`],
  [{ a: [{ numeric: ['='] }] }, `a.0.numeric: ${NUMERIC}`],
  [{ a: [{ numeric: ['>', 0, '<', 5, '<', 6] }] }, `a.0.numeric: ${NUMERIC}`],
  [{ a: [{ numeric: 5 }] }, `a.0.numeric: ${NUMERIC}`],
  [{ a: [{ exists: 'yes' }] }, 'a.0.exists: true or false'],
  [{ a: [{ exists: [true] }] }, 'a.0.exists: true or false'],
  [{ a: [{ 'anything-but': ['b', 1] }] }, `a.0.anything-but: ${BUT}`],
  [{ a: [{ 'anything-but': [] }] }, `a.0.anything-but: ${BUT}`],
  [{ a: [{ 'anything-but': null }] }, `a.0.anything-but: ${BUT}`],
  [{ a: [{ 'anything-but': [true] }] }, `a.0.anything-but: ${BUT}`],
  [{ a: [{ 'anything-but': { numeric: ['=', 1] } }] }, `a.0.anything-but: ${BUT}`],
  [{ a: [{ 'anything-but': { prefix: '' } }] }, `a.0.anything-but: ${BUT}`],
  [{ a: [{ 'anything-but': { suffix: ['b', ''] } }] }, `a.0.anything-but: ${BUT}`],
  [{ a: [{ 'anything-but': { prefix: [] } }] }, `a.0.anything-but: ${BUT}`],
  [{ a: [{ 'anything-but': { prefix: 1 } }] }, `a.0.anything-but: ${BUT}`],
  [{ a: [{ 'anything-but': { wildcard: ['b', 'a**b'] } }] }, `a.0.anything-but: ${BUT}`],
  [{ a: [{ 'anything-but': { prefix: 'b', suffix: 'c' } }] }, `a.0.anything-but: ${BUT}`],
  [{ a: [{ cidr: '10.0.0.0' }] }, `a.0.cidr: ${CIDR}`],
  [{ a: [{ cidr: '10.0.0.0/32' }] }, `a.0.cidr: ${CIDR}`],
  [{ a: [{ cidr: '2001:db8::/128' }] }, `a.0.cidr: ${CIDR}`],
  [{ a: [{ cidr: '10.0.0.0/-1' }] }, `a.0.cidr: ${CIDR}`],
  [{ a: [{ cidr: '10.0.0/8' }] }, `a.0.cidr: ${CIDR}`],
  [{ a: [{ cidr: '10.0.0.256/8' }] }, `a.0.cidr: ${CIDR}`],
  [{ a: [{ cidr: 'localhost/8' }] }, `a.0.cidr: ${CIDR}`],
  [{ a: [{ cidr: ['10.0.0.0/8'] }] }, `a.0.cidr: ${CIDR}`],
  [{ $or: [{ a: ['b'] }] }, '$or: a list of at least two objects'],
  [{ $or: { a: ['b'] } }, '$or: a list of at least two objects'],
  [{ detail: { $or: [{ a: ['b'] }, {}] } }, `detail.$or.1: ${FIELDS}`],
  [{ $or: ['a', { a: ['b'] }] }, `$or.0: ${FIELDS}`],
  [
    { $or: [{ a: { prefix: ['b'] } }, { c: ['d'] }] },
    '$or.0.a.prefix: within $or, a field that is not called prefix',
  ],
  [{ $or: [{ regex: ['b'] }, { c: ['d'] }] }, '$or.0.regex: within $or, a field that is not called regex'],
  [{ 'a.b': ['c'], a: { b: ['d'] } }, 'a.b: the field a.b only once in what must match together'],
  [
    { a: ['b'], $or: [{ a: ['c'] }, { d: ['e'] }] },
    '$or.0.a: the field a only once in what must match together',
  ],
  [
    { source: 'a', detail: { b: [{ prefix: 1 }, []], c: [] } },
    `source: ${FIELDS}`,
    `detail.b.0.prefix: ${AFFIX}`,
    `detail.b.1: ${VALUE}`,
    'detail.c: at least one value that matches',
  ],
];
