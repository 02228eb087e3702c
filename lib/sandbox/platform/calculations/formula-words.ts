/*
 * A look over a formula's words without a parse, for filters that go over all calculations: a parse of each would
 * take seconds. Texts and comments are passed over; what is left is exact for functions and columns.
 */

const WORDS = /'(?:[^'\\]|\\.|'')*'|--[^\n]*|\/\*[\s\S]*?\*\/|`([^`]*)`|([A-Za-z_]\w*)\s*(?=\()/g;

/** Words that stand before a parenthesis without being a function. */
const NO_FUNCTION = new Set([
  'IN',
  'AND',
  'OR',
  'NOT',
  'THEN',
  'ELSE',
  'WHEN',
  'CASE',
  'BY',
  'ADD',
  'REMOVE',
  'OVER',
  'FIXED',
  'LIKE',
  'DISTINCT',
  'INTERVAL',
]);

/** The columns that a formula names, each once, without backticks. */
export function columnsIn(formula: string): readonly string[] {
  return [
    ...new Set([...formula.matchAll(WORDS)].flatMap(([, column]) => (column === undefined ? [] : [column]))),
  ];
}

/** The functions that a formula calls, each once, in upper case. Operators are not among them. */
export function functionsIn(formula: string): readonly string[] {
  const names = [...formula.matchAll(WORDS)].flatMap(([, , name]) =>
    name === undefined ? [] : [name.toUpperCase()],
  );
  return [...new Set(names)].filter((name) => !NO_FUNCTION.has(name));
}
