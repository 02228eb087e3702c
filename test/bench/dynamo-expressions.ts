/** An attribute's value as DynamoDB sends it: `{ S: 'text' }`, `{ N: '17' }` and so on. */
export type Value = Readonly<Record<string, unknown>>;
export type Item = Readonly<Record<string, Value>>;

/** The context of an expression: the item, and the meanings of `#name` and `:value`. */
export type Scope = {
  readonly item: Item;
  readonly names: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, Value>>;
};

const attributeOf = ({ item, names, values }: Scope, token: string): Value | undefined =>
  token.startsWith(':') ? values[token] : item[names[token] ?? token];

/** The number or text of a value. Comparing them gives the same order as in DynamoDB, if texts are ASCII. */
const plain = (value: Value | undefined): unknown => {
  if (value === undefined) return undefined;
  return value['N'] === undefined ? (value['S'] ?? JSON.stringify(value)) : Number(value['N']);
};

/** DynamoDB's operators in JavaScript. */
const OPERATORS: Readonly<Record<string, string>> = {
  AND: '&&',
  OR: '||',
  NOT: '!',
  '=': '===',
  '<>': '!==',
};
const FUNCTIONS = {
  attribute_exists: (a: unknown) => a !== undefined,
  attribute_not_exists: (a: unknown) => a === undefined,
  begins_with: (a: unknown, b: unknown) => String(a).startsWith(String(b)),
};

type Condition = (scope: Scope) => boolean;

/** Compiles a condition of names, values, comparisons, AND, OR, NOT and the functions above. */
export const conditionOf = remembered((expression): Condition => {
  const script = expression.replaceAll(/[#:]?\w+|<>|<=|>=|=/g, (token) => {
    if (token in FUNCTIONS) return `functions.${token}`;
    return OPERATORS[token] ?? (/^\W?=$/.test(token) ? token : `get('${token}')`);
  });
  const compiled = new Function('functions', 'get', `return ${script}`);
  return (scope) => compiled(FUNCTIONS, (token: string) => plain(attributeOf(scope, token)));
});

type Change = (scope: Scope, item: Record<string, Value>) => void;

const numberIn = (value: Value | undefined): number => Number(value?.['N'] ?? 0);
const sumOf = (scope: Scope, a: string, b: string): Value => ({
  N: String(numberIn(attributeOf(scope, a)) + numberIn(attributeOf(scope, b))),
});

/** Parsers of one part of a clause: `#a = :b`, `#a = #b + :c`, `#a` and `#a :b`. */
const clauses: Readonly<Record<string, (words: readonly string[]) => Change>> = {
  SET:
    ([name = '', , value = '', , more]) =>
    (scope, item) => {
      const set = more === undefined ? attributeOf(scope, value) : sumOf(scope, value, more);
      if (set === undefined) throw new SyntaxError(`no value for ${name}`);
      item[scope.names[name] ?? name] = set;
    },
  REMOVE:
    ([name = '']) =>
    ({ names }, item) =>
      void delete item[names[name] ?? name],
  ADD:
    ([name = '', by = '']) =>
    (scope, item) => {
      item[scope.names[name] ?? name] = sumOf(scope, name, by);
    },
};

/** Compiles an update with SET, REMOVE and ADD to a function that applies it. */
export const updateOf = remembered((expression): ((scope: Scope) => Item) => {
  const found = expression.matchAll(/(SET|REMOVE|ADD) (.+?)(?= (?:SET|REMOVE|ADD) |$)/g);
  const changes = [...found].flatMap(([, clause = '', parts = '']) =>
    parts.split(', ').map((part) => clauses[clause]?.(part.split(' '))),
  );
  return (scope) => {
    const item: Record<string, Value> = { ...scope.item };
    for (const change of changes) change?.(scope, item);
    return item;
  };
});

/** Caches results by expression, since programs use a few expressions thousands of times. */
function remembered<T>(make: (expression: string) => T): (expression: string) => T {
  const cache = new Map<string, T>();
  return (expression) => {
    const value = cache.get(expression) ?? make(expression);
    cache.set(expression, value);
    return value;
  };
}
