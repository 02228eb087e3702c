/** A metric filter in a template. */
export type FilterProperties = {
  readonly FilterPattern: string;
  readonly LogGroupName: { readonly Ref?: string };
  readonly MetricTransformations: readonly [
    {
      readonly MetricName: string;
      readonly MetricNamespace: string;
      readonly Dimensions?: readonly [{ readonly Key: string; readonly Value: string }];
    },
  ];
};

/** The value at `$.a.b` of a line. */
export const at = (line: object, selector: string): unknown =>
  selector
    .split('.')
    .slice(1)
    .reduce<unknown>(
      (inner, name) => (Object(inner) === inner ? Reflect.get(Object(inner), name) : undefined),
      line,
    );

/**
 * Whether a metric filter counts a line. Supports the part of the JSON pattern language that the template uses: `=`,
 * `!=` and `>` of selectors, with `*` in texts, joined by `&&` within parentheses that `||` joins.
 */
export function matches(pattern: string, line: object): boolean {
  const [, inner] = /^\{ (.*) \}$/.exec(pattern) ?? [];
  if (inner === undefined) throw new Error(`expected { … }, got ${pattern}`);
  return inner.split(' || ').some((group) =>
    group
      .replace(/^\((.*)\)$/, '$1')
      .split(' && ')
      .every((test) => isTrue(test, line)),
  );
}

function isTrue(test: string, line: object): boolean {
  const [, selector = '', operator, operand = ''] = /^(\$[.\w]+) (=|!=|>) (.+)$/.exec(test) ?? [];
  const value = at(line, selector);
  if (operator === '>') return typeof value === 'number' && value > Number(operand);
  const text = new RegExp(`^${JSON.parse(operand).replace(/[.]/g, '\\.').replaceAll('*', '.*')}$`);
  const isEqual = typeof value === 'string' && text.test(value);
  if (operator === '=') return isEqual;
  if (operator === '!=') return value !== undefined && !isEqual;
  throw new Error(`expected a comparison, got ${test}`);
}
