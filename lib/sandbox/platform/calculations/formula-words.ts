/*
 * Finds the words of a formula without parsing it, for filters over all calculations: parsing each would take seconds.
 * Texts and comments are skipped; for functions and columns the result is exact.
 */

const WORDS = /'(?:[^'\\]|\\.|'')*'|--[^\n]*|\/\*[\s\S]*?\*\/|`([^`]*)`|([A-Za-z_]\w*)\s*(?=\()/g;

/** Words that may precede a parenthesis without being functions. */
const NO_FUNCTION = new Set(
  'IN AND OR NOT THEN ELSE WHEN CASE BY ADD REMOVE OVER FIXED LIKE DISTINCT INTERVAL'.split(' '),
);

/** The columns that a formula uses, each once, without backticks. */
export function columnsIn(formula: string): readonly string[] {
  return [
    ...new Set([...formula.matchAll(WORDS)].flatMap(([, column]) => (column === undefined ? [] : [column]))),
  ];
}

/** The functions that a formula calls, each once, in upper case, without operators. */
export function functionsIn(formula: string): readonly string[] {
  const names = [...formula.matchAll(WORDS)].flatMap(([, , name]) =>
    name === undefined ? [] : [name.toUpperCase()],
  );
  return [...new Set(names)].filter((name) => !NO_FUNCTION.has(name));
}
