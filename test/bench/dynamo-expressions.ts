/** An attribute's value as DynamoDB sends it: `{ S: 'text' }`, `{ N: '17' }` and so on. */
export type Value = Readonly<Record<string, unknown>>;
export type Item = Readonly<Record<string, Value>>;

/** What an expression is about: `#name` and `:value` mean what these say. */
export type Scope = {
  readonly item: Item;
  readonly names: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, Value>>;
};

export type Condition = (scope: Scope) => boolean;
type Operand = (scope: Scope) => Value | undefined;
type Tokens = { peek(): string; take(expected?: string): string };

/** A condition of names, values, comparisons, `attribute_exists`, `begins_with`, AND, OR and NOT. */
export const conditionOf = remembered((expression) => {
  const tokens = tokensOf(expression);
  const condition = anyOf(tokens);
  tokens.take(END);
  return condition;
});

/** What an update with SET, REMOVE and ADD makes of an item. */
export const updateOf = remembered((expression): ((scope: Scope) => Item) => {
  const tokens = tokensOf(expression);
  const changes: Change[] = [];
  while (tokens.peek() !== END) {
    const clause = clauses[tokens.take()];
    if (clause === undefined) throw new SyntaxError(`expected SET, REMOVE or ADD in ${expression}`);
    do changes.push(clause(tokens));
    while (isTaken(tokens, ','));
  }
  return (scope) => {
    const item: Record<string, Value> = { ...scope.item };
    for (const change of changes) change(scope, item);
    return item;
  };
});

const END = '';

function tokensOf(expression: string): Tokens {
  const found = expression.match(/[#:]?\w+|<>|<=|>=|[^\s\w]/g) ?? [];
  let at = 0;
  const peek = () => found[at] ?? END;
  return {
    peek,
    take(expected = peek()) {
      const token = peek();
      if (token !== expected) throw new SyntaxError(`expected ${expected}, got ${token} in ${expression}`);
      at += 1;
      return token;
    },
  };
}

function isTaken(tokens: Tokens, token: string): boolean {
  if (tokens.peek() !== token) return false;
  tokens.take();
  return true;
}

function anyOf(tokens: Tokens): Condition {
  const conditions = [allOf(tokens)];
  while (isTaken(tokens, 'OR')) conditions.push(allOf(tokens));
  return (scope) => conditions.some((condition) => condition(scope));
}

function allOf(tokens: Tokens): Condition {
  const conditions = [single(tokens)];
  while (isTaken(tokens, 'AND')) conditions.push(single(tokens));
  return (scope) => conditions.every((condition) => condition(scope));
}

function single(tokens: Tokens): Condition {
  if (isTaken(tokens, 'NOT')) {
    const condition = single(tokens);
    return (scope) => !condition(scope);
  }
  if (isTaken(tokens, '(')) {
    const condition = anyOf(tokens);
    tokens.take(')');
    return condition;
  }
  const made = calls[tokens.peek()];
  if (made !== undefined) return made(argumentsIn(tokens));
  const left = operand(tokens);
  const compare = comparisons[tokens.take()];
  if (compare === undefined) throw new SyntaxError('expected a comparison');
  const right = operand(tokens);
  return (scope) => {
    const [a, b] = [left(scope), right(scope)];
    return a !== undefined && b !== undefined && compare(a, b);
  };
}

function argumentsIn(tokens: Tokens): readonly Operand[] {
  tokens.take();
  tokens.take('(');
  const operands: Operand[] = [];
  do operands.push(operand(tokens));
  while (isTaken(tokens, ','));
  tokens.take(')');
  return operands;
}

const NOTHING: Operand = () => undefined;

const calls: Readonly<Record<string, (operands: readonly Operand[]) => Condition>> = {
  attribute_exists:
    ([path = NOTHING]) =>
    (scope) =>
      path(scope) !== undefined,
  attribute_not_exists:
    ([path = NOTHING]) =>
    (scope) =>
      path(scope) === undefined,
  begins_with:
    ([path = NOTHING, prefix = NOTHING]) =>
    (scope) =>
      String(path(scope)?.['S'] ?? '').startsWith(String(prefix(scope)?.['S'])),
};

function operand(tokens: Tokens): Operand {
  if (tokens.peek() === 'if_not_exists') {
    const [path = NOTHING, otherwise = NOTHING] = argumentsIn(tokens);
    return (scope) => path(scope) ?? otherwise(scope);
  }
  const token = tokens.take();
  return token.startsWith(':')
    ? ({ values }) => values[token]
    : ({ item, names }) => item[names[token] ?? token];
}

const isEqual = (a: Value, b: Value): boolean =>
  a['N'] !== undefined && b['N'] !== undefined
    ? Number(a['N']) === Number(b['N'])
    : JSON.stringify(a) === JSON.stringify(b);

/** Values of different types are in no order. */
function difference(a: Value, b: Value): number {
  if (a['N'] !== undefined && b['N'] !== undefined) return Number(a['N']) - Number(b['N']);
  if (typeof a['S'] !== 'string' || typeof b['S'] !== 'string') return Number.NaN;
  return Buffer.compare(Buffer.from(a['S']), Buffer.from(b['S']));
}

const comparisons: Readonly<Record<string, (a: Value, b: Value) => boolean>> = {
  '=': isEqual,
  '<>': (a, b) => !isEqual(a, b),
  '<': (a, b) => difference(a, b) < 0,
  '<=': (a, b) => difference(a, b) <= 0,
  '>': (a, b) => difference(a, b) > 0,
  '>=': (a, b) => difference(a, b) >= 0,
};

type Change = (scope: Scope, item: Record<string, Value>) => void;

const numberIn = (value: Value | undefined): number => Number(value?.['N'] ?? 0);

const clauses: Readonly<Record<string, (tokens: Tokens) => Change>> = {
  SET(tokens) {
    const name = tokens.take();
    tokens.take('=');
    const first = operand(tokens);
    const sign = isTaken(tokens, '+') ? 1 : isTaken(tokens, '-') ? -1 : 0;
    const second = sign === 0 ? NOTHING : operand(tokens);
    return (scope, item) => {
      const value =
        sign === 0 ? first(scope) : { N: String(numberIn(first(scope)) + sign * numberIn(second(scope))) };
      if (value === undefined) throw new SyntaxError(`no value for ${name}`);
      item[scope.names[name] ?? name] = value;
    };
  },
  REMOVE(tokens) {
    const name = tokens.take();
    return ({ names }, item) => void delete item[names[name] ?? name];
  },
  ADD(tokens) {
    const name = tokens.take();
    const by = operand(tokens);
    return (scope, item) => {
      const attribute = scope.names[name] ?? name;
      item[attribute] = { N: String(numberIn(scope.item[attribute]) + numberIn(by(scope))) };
    };
  },
};

/** The same result for the same expression: programs use a few, thousands of times. */
function remembered<T>(make: (expression: string) => T): (expression: string) => T {
  const made = new Map<string, T>();
  return (expression) => {
    const known = made.get(expression);
    if (known !== undefined) return known;
    const value = make(expression);
    made.set(expression, value);
    return value;
  };
}
