/*
 * Quoting: columns in backticks (or brackets), text in single (or double) quotes, each with its own way to contain its quote.
 */

/** `` a`b `` becomes `` `a``b` ``: the only way to write a column. */
export function quoteColumn(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``;
}

/** `` `a``b` `` becomes `` a`b ``, and `[a]]b]` becomes `a]b`. */
export function unquoteColumn(source: string): string {
  const close = source.slice(-1);
  return source.slice(1, -1).replaceAll(close + close, close);
}

/** `it's` becomes `'it''s'`: quotes are doubled, backslashes escaped, everything else stays as it is. */
export function quoteText(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

/**
 * `'it''s\n'` becomes the text that it stands for, by MySQL's rules: `\%` and `\_` keep their backslash, since LIKE
 * interprets them; an unknown escape is the character itself.
 * Source: MySQL manual, "Special Character Escape Sequences".
 */
export function unquoteText(source: string): string {
  return source
    .slice(1, -1)
    .replaceAll(source.startsWith('"') ? /""|\\([\s\S])/g : /''|\\([\s\S])/g, (pair, escaped?: string) =>
      escaped === undefined
        ? pair.slice(1)
        : (escapes.get(escaped) ?? (LIKE_WILDCARDS.has(escaped) ? pair : escaped)),
    );
}

const escapes: ReadonlyMap<string, string> = new Map([
  ['0', '\0'],
  ['b', '\b'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['Z', '\u001A'],
]);

const LIKE_WILDCARDS: ReadonlySet<string> = new Set(['%', '_']);
