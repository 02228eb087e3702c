/** Patterns that EventBridge refuses, as JSON values, and the faults that they have: path, and what was expected. */
export const invalidPatterns: readonly (readonly [
  what: string,
  pattern: unknown,
  ...faults: readonly string[],
])[] = [
  ['no field', {}, ': an object of fields, each ending in a list of what matches'],
  ['a list', ['a'], ': an object of fields, each ending in a list of what matches'],
  ['text', 'a', ': an object of fields, each ending in a list of what matches'],
  ['nothing', null, ': an object of fields, each ending in a list of what matches'],
  [
    'a value without a list',
    { source: 'a' },
    'source: an object of fields, each ending in a list of what matches',
  ],
  [
    'a number without a list',
    { a: { b: 5 } },
    'a.b: an object of fields, each ending in a list of what matches',
  ],
  ['no value', { source: [] }, 'source: at least one value that matches'],
  [
    'an inner object without fields',
    { a: { b: {} } },
    'a.b: an object of fields, each ending in a list of what matches',
  ],
  [
    'a nested array',
    { a: [['b']] },
    'a.0: text, a number, true, false, null or a match type such as {"prefix": "a"}',
  ],
  ['an unknown match type', { a: [{ contains: 'b' }] }, `a.0: ${oneType()}`],
  [
    'a match type by the name of a property of every object',
    { a: [{ constructor: 'b' }] },
    `a.0: ${oneType()}`,
  ],
  ['no match type', { a: [{}] }, `a.0: ${oneType()}`],
  ['two keys in one matcher', { a: [{ prefix: 'b', suffix: 'c' }] }, `a.0: ${oneType()}`],
  ['a prefix that is a number', { a: [{ prefix: 1 }] }, 'a.0.prefix: text, or {"equals-ignore-case": text}'],
  [
    'a prefix that is a list',
    { a: [{ prefix: ['b'] }] },
    'a.0.prefix: text, or {"equals-ignore-case": text}',
  ],
  [
    'a suffix with two keys',
    { a: [{ suffix: { 'equals-ignore-case': 'b', x: 1 } }] },
    'a.0.suffix: text, or {"equals-ignore-case": text}',
  ],
  [
    'a prefix within a suffix',
    { a: [{ suffix: { prefix: 'b' } }] },
    'a.0.suffix: text, or {"equals-ignore-case": text}',
  ],
  ['a null to compare', { a: [{ 'equals-ignore-case': null }] }, 'a.0.equals-ignore-case: text'],
  ['an exact value that is no text', { a: [{ exactly: 1 }] }, 'a.0.exactly: text'],
  ['two asterisks', { a: [{ wildcard: 'a**b' }] }, `a.0.wildcard: ${wildcard()}`],
  ['a backslash before a letter', { a: [{ wildcard: 'a\\b' }] }, `a.0.wildcard: ${wildcard()}`],
  ['a backslash at the end', { a: [{ wildcard: 'a\\' }] }, `a.0.wildcard: ${wildcard()}`],
  ['an unknown operator', { a: [{ numeric: ['!', 5] }] }, `a.0.numeric: ${numeric()}`],
  [
    'an operator by the name of a property of every object',
    { a: [{ numeric: ['toString', 5] }] },
    `a.0.numeric: ${numeric()}`,
  ],
  ['an empty range', { a: [{ numeric: ['>', 5, '<', 5] }] }, `a.0.numeric: ${numeric()}`],
  ['a range that is reversed', { a: [{ numeric: ['>=', 5, '<=', 4] }] }, `a.0.numeric: ${numeric()}`],
  ['a range with its upper bound first', { a: [{ numeric: ['<', 5, '>', 0] }] }, `a.0.numeric: ${numeric()}`],
  ['two lower bounds', { a: [{ numeric: ['>', 0, '>', 5] }] }, `a.0.numeric: ${numeric()}`],
  ['equality within a range', { a: [{ numeric: ['=', 0, '<', 5] }] }, `a.0.numeric: ${numeric()}`],
  ['a bound that is text', { a: [{ numeric: ['>', '5'] }] }, `a.0.numeric: ${numeric()}`],
  ['no bound', { a: [{ numeric: [] }] }, `a.0.numeric: ${numeric()}`],
  ['an operator without a bound', { a: [{ numeric: ['='] }] }, `a.0.numeric: ${numeric()}`],
  ['three bounds', { a: [{ numeric: ['>', 0, '<', 5, '<', 6] }] }, `a.0.numeric: ${numeric()}`],
  ['bounds without a list', { a: [{ numeric: 5 }] }, `a.0.numeric: ${numeric()}`],
  ['existence as text', { a: [{ exists: 'yes' }] }, 'a.0.exists: true or false'],
  ['existence as a list', { a: [{ exists: [true] }] }, 'a.0.exists: true or false'],
  [
    'texts and numbers excluded together',
    { a: [{ 'anything-but': ['b', 1] }] },
    `a.0.anything-but: ${anythingBut()}`,
  ],
  ['nothing excluded', { a: [{ 'anything-but': [] }] }, `a.0.anything-but: ${anythingBut()}`],
  ['null excluded', { a: [{ 'anything-but': null }] }, `a.0.anything-but: ${anythingBut()}`],
  ['true excluded', { a: [{ 'anything-but': [true] }] }, `a.0.anything-but: ${anythingBut()}`],
  [
    'numbers excluded by a range',
    { a: [{ 'anything-but': { numeric: ['=', 1] } }] },
    `a.0.anything-but: ${anythingBut()}`,
  ],
  [
    'an empty prefix excluded',
    { a: [{ 'anything-but': { prefix: '' } }] },
    `a.0.anything-but: ${anythingBut()}`,
  ],
  [
    'an empty suffix among others excluded',
    { a: [{ 'anything-but': { suffix: ['b', ''] } }] },
    `a.0.anything-but: ${anythingBut()}`,
  ],
  ['no prefix excluded', { a: [{ 'anything-but': { prefix: [] } }] }, `a.0.anything-but: ${anythingBut()}`],
  [
    'a number as an excluded prefix',
    { a: [{ 'anything-but': { prefix: 1 } }] },
    `a.0.anything-but: ${anythingBut()}`,
  ],
  [
    'two asterisks excluded',
    { a: [{ 'anything-but': { wildcard: ['b', 'a**b'] } }] },
    `a.0.anything-but: ${anythingBut()}`,
  ],
  [
    'two kinds excluded',
    { a: [{ 'anything-but': { prefix: 'b', suffix: 'c' } }] },
    `a.0.anything-but: ${anythingBut()}`,
  ],
  ['an address without bits', { a: [{ cidr: '10.0.0.0' }] }, `a.0.cidr: ${cidr()}`],
  ['a range of one address', { a: [{ cidr: '10.0.0.0/32' }] }, `a.0.cidr: ${cidr()}`],
  ['a range of one address of IPv6', { a: [{ cidr: '2001:db8::/128' }] }, `a.0.cidr: ${cidr()}`],
  ['negative bits', { a: [{ cidr: '10.0.0.0/-1' }] }, `a.0.cidr: ${cidr()}`],
  ['three bytes', { a: [{ cidr: '10.0.0/8' }] }, `a.0.cidr: ${cidr()}`],
  ['a byte above 255', { a: [{ cidr: '10.0.0.256/8' }] }, `a.0.cidr: ${cidr()}`],
  ['a name of a host', { a: [{ cidr: 'localhost/8' }] }, `a.0.cidr: ${cidr()}`],
  ['ranges in a list', { a: [{ cidr: ['10.0.0.0/8'] }] }, `a.0.cidr: ${cidr()}`],
  ['one branch', { $or: [{ a: ['b'] }] }, '$or: a list of at least two objects'],
  ['branches without a list', { $or: { a: ['b'] } }, '$or: a list of at least two objects'],
  [
    'a branch without fields',
    { detail: { $or: [{ a: ['b'] }, {}] } },
    'detail.$or.1: an object of fields, each ending in a list of what matches',
  ],
  [
    'a branch that is text',
    { $or: ['a', { a: ['b'] }] },
    '$or.0: an object of fields, each ending in a list of what matches',
  ],
  [
    'a match type as the name of a field within $or',
    { $or: [{ a: { prefix: ['b'] } }, { c: ['d'] }] },
    '$or.0.a.prefix: within $or, a field that is not called prefix',
  ],
  [
    'a name within $or that AWS has reserved for later',
    { $or: [{ regex: ['b'] }, { c: ['d'] }] },
    '$or.0.regex: within $or, a field that is not called regex',
  ],
  [
    'a field twice, nested and with a dot',
    { 'a.b': ['c'], a: { b: ['d'] } },
    'a.b: the field a.b only once in what must match together',
  ],
  [
    'a field again within $or',
    { a: ['b'], $or: [{ a: ['c'] }, { d: ['e'] }] },
    '$or.0.a: the field a only once in what must match together',
  ],
  [
    'several faults',
    { source: 'a', detail: { b: [{ prefix: 1 }, []], c: [] } },
    'source: an object of fields, each ending in a list of what matches',
    'detail.b.0.prefix: text, or {"equals-ignore-case": text}',
    'detail.b.1: text, a number, true, false, null or a match type such as {"prefix": "a"}',
    'detail.c: at least one value that matches',
  ],
];

function oneType(): string {
  return 'exactly one of the match types exactly, prefix, suffix, equals-ignore-case, wildcard, anything-but, numeric, cidr or exists';
}

function wildcard(): string {
  return 'text in which no two * follow each other, and \\ stands only before * or \\';
}

function numeric(): string {
  return '["=", number], one bound such as [">", 0], or a lower and a higher one, such as [">", 0, "<=", 5]';
}

function anythingBut(): string {
  return 'texts or numbers, not both, or one of {"prefix": …}, {"suffix": …}, {"equals-ignore-case": …}, {"wildcard": …} with texts';
}

function cidr(): string {
  return 'ADDRESS/BITS with at most 31 bits for IPv4 and 127 for IPv6, such as "10.0.0.0/24"';
}
