import { QueryError } from './query-error.ts';

/** SQL cut at the semicolons that end statements. */
type Statements = {
  /** Statements that a semicolon ended, without it; those of nothing but space and comments are left out. */
  readonly ended: readonly string[];
  /** What follows the last semicolon, to its end: the beginning of a statement, or nothing but space and comments. */
  readonly rest: string;
  /** True if `rest` has something to run. */
  readonly hasRest: boolean;
  /** True if `rest` is within quotes or a comment, in which a semicolon ends nothing. */
  readonly isOpen: boolean;
};

/** A comment, a quoted text or name, a `$tag$` text, one that lacks its end (`open`), a semicolon, or a whole word. */
const TOKEN =
  /--[^\n]*|\/\*[\s\S]*?\*\/|[eE]'(?:[^'\\]|\\[\s\S]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$(?:[A-Za-z_]\w*)?\$)[\s\S]*?\1|(?<open>(?:\/\*|[eE]?'|"|\$(?:[A-Za-z_]\w*)?\$)[\s\S]*)|;|[\p{L}_][\p{L}\p{N}_$]*|\s+|[\s\S]/gu;

/** Cuts SQL into statements, as DuckDB does. */
export function splitStatements(text: string): Statements {
  const ended: string[] = [];
  let from = 0;
  let hasCode = false;
  let isOpen = false;
  for (const { 0: token, index, groups } of text.matchAll(TOKEN)) {
    isOpen = groups?.['open'] !== undefined;
    if (token === ';') {
      if (hasCode) ended.push(text.slice(from, index).trim());
      from = index + 1;
      hasCode = false;
    } else if (!/^(?:--|\/\*|\s)/.test(token)) hasCode = true;
  }
  return { ended, rest: text.slice(from).trimStart(), hasRest: hasCode, isOpen };
}

/** The words that a query begins with, after comments and parentheses. */
const BEGINS =
  /^(?:\s|\(|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*(?:select|with|from|values|table|describe|desc|summarize|show|pivot|unpivot)\b/i;

/**
 * The one statement that a text consists of, without a semicolon at its end. Throws `QueryError` unless it begins as one that
 * only reads. What does not read all the same is no query by DuckDB's grammar: it becomes a table, and is planned before.
 */
export function onlyQuery(text: string): string {
  const failed = (message: string) => new QueryError(message, { kind: 'sql' });
  // DuckDB would read up to it.
  if (text.includes('\0')) throw failed('expected SQL without the character U+0000, got one');
  const { ended, rest, hasRest } = splitStatements(text);
  const all = [...ended, ...(hasRest ? [rest.trimEnd()] : [])];
  const [first] = all;
  if (first === undefined) throw failed('expected a query, got none');
  if (all.length > 1) throw failed(`expected one query, got ${all.length} statements`);
  if (BEGINS.test(first)) return first;
  const got = /\w{1,40}/.exec(first)?.[0].toUpperCase() ?? 'another statement';
  throw failed(`expected a query that only reads (SELECT …), got ${got}`);
}
