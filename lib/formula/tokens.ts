import { wordSet } from './infer-data-type.ts';

/**
 * A word or sign of a formula. `word` is the name or sign in upper case, for comparisons; it is empty for columns,
 * texts and numbers, which are never keywords. The last token is the `end`, at the formula's length.
 */
type Token = {
  readonly kind: Kind | 'reserved' | 'end';
  readonly image: string;
  readonly offset: number;
  readonly word: string;
};

type Kind = keyof typeof patterns;

/*
 * The lexer takes the first pattern that matches. A doubled quote does not close a token, so that an unclosed `` `a``b
 * `` is not read as column a. A token that is not closed extends to the end.
 */
const NAME = String.raw`[\p{L}_$][\p{L}\p{M}\p{N}_$]*`;
const patterns = {
  skipped: String.raw`\s+|--[^\r\n]*|/\*[^]*?\*/`,
  invisible: String.raw`[\u00AD\u200B-\u200F\u202A-\u202E\u2060-\u2064\u2066-\u2069]+`,
  hash: String.raw`#[^\r\n]*`,
  openComment: String.raw`/\*[^]*`,
  table: String.raw`(?:\x60[^\x60]+\x60|\[[^\]]+\]|${NAME})\s*\.\s*(?=[\x60\[\p{L}_$])`,
  column: String.raw`\x60[^\x60]*(?:\x60\x60[^\x60]*)*\x60(?!\x60)`,
  openColumn: String.raw`\x60[^]*`,
  bracketed: String.raw`\[[^\]]*(?:\]\][^\]]*)*\](?!\])`,
  openBracket: String.raw`\[[^]*`,
  text: String.raw`'[^'\\]*(?:(?:''|\\[^])[^'\\]*)*'(?!')`,
  openText: "'[^]*",
  quoted: String.raw`"[^"\\]*(?:(?:""|\\[^])[^"\\]*)*"(?!")`,
  openQuoted: '"[^]*',
  number: String.raw`0x[\da-f]+|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?`,
  introducer: String.raw`(?:date|time(?:stamp)?|[xbn]|_[a-z]\w*)(?=\s*['"])`,
  name: NAME,
  sign: String.raw`<=>|<=|>=|<>|!=|\|\||&&|[-+*/%=<>!(),;]`,
  unknown: String.raw`[^\s\p{L}\p{N}_$\x60'"\[(),;+\-*/%<>=!#.&|]+|[^]`,
};
const kinds = Object.keys(patterns) as Kind[];
const TOKEN = new RegExp(
  Object.values(patterns)
    .map((pattern) => `(${pattern})`)
    .join('|'),
  'iuy',
);

/** The words that cannot be the name of a column without backticks. */
const RESERVED = wordSet(
  `AND BETWEEN BOTH CASE DISTINCT DIV ELSE END FALSE ILIKE IN INTERVAL IS LEADING LIKE NOT NULL OR REGEXP RLIKE
  THEN TRAILING TRUE WHEN XOR`,
);

/** How to write names and texts. */
export const ADVICE = 'write columns in backticks, text in single quotes';

const unclosedTexts: Partial<Record<Kind, string>> = {
  openComment: 'This comment is not closed: expected "*/".',
  openColumn: 'This column is not closed: expected another backtick.',
  openBracket: 'This column is not closed: expected "]".',
  openText: "This text is not closed: expected another ' (a ' within the text is written '').",
  openQuoted: 'This text is not closed: expected another " (a " within the text is written "").',
};

const warningTexts: Partial<Record<Kind, string>> = {
  invisible: 'There is an invisible character here: remove it.',
  hash: 'A comment begins with -- or /*: the platform may not support #.',
  table: 'A column is written without its table, which is ignored here.',
  bracketed: 'A column is written in backticks: the platform may not support brackets.',
  quoted: 'Text is written in single quotes: the platform may not support double quotes.',
};

/**
 * Splits a formula into tokens. `faults` are unknown characters, and quotes and comments that are not closed. All
 * lists are in the order of the text.
 */
export function tokenize(text: string) {
  const tokens: Token[] = [];
  const faults: Objection[] = [];
  const warnings: Objection[] = [];
  let offset = 0;
  while (offset < text.length) {
    const { kind, image } = tokenAt(text, offset);
    const fault = kind === 'unknown' ? `Unexpected ${shortened(image)}: ${ADVICE}.` : unclosedTexts[kind];
    if (fault !== undefined) faults.push({ offset, message: fault });
    const warning = warningTexts[kind];
    if (warning !== undefined) warnings.push({ offset, message: warning });
    const word = kind === 'name' || kind === 'sign' || kind === 'introducer' ? image.toUpperCase() : '';
    const isReserved = kind === 'name' && RESERVED.has(word);
    if (!DROPPED_KINDS.has(kind)) tokens.push({ kind: isReserved ? 'reserved' : kind, image, offset, word });
    offset += image.length;
  }
  tokens.push({ kind: 'end', image: '', offset, word: '' });
  return { tokens, faults, warnings };
}

const DROPPED_KINDS: ReadonlySet<Kind> = new Set<Kind>(['skipped', 'invisible', 'hash', 'table']);

function tokenAt(text: string, offset: number): { readonly kind: Kind; readonly image: string } {
  TOKEN.lastIndex = offset;
  const match = TOKEN.exec(text);
  const image = match?.[0] ?? '';
  return { kind: kinds[(match?.indexOf(image, 1) ?? 0) - 1] ?? 'unknown', image };
}

/**
 * What is wrong with a formula, or may be wrong, for the user who wrote it.
 *
 * - `message`: one sentence that says what was expected and what was found.
 * - `offset`: where it is, in UTF-16 code units from 0; the formula's length if it ends too early.
 * - `line`, `column`: the same position, both from 1; a column is a UTF-16 code unit.
 */
export type FormulaFault = {
  readonly message: string;
  readonly offset: number;
  readonly line: number;
  readonly column: number;
};

/** What is wrong at an offset of a formula, before its line and column are known. */
export type Objection = { readonly offset: number; readonly message: string };

/** Line and column, both from 1. A line ends with a line feed, a carriage return, or both. */
export function positionOf(text: string, offset: number): { readonly line: number; readonly column: number } {
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/);
  return { line: lines.length, column: (lines.at(-1) ?? '').length + 1 };
}

/** Quotes a piece of the formula for a message. */
export function shown(source: string): string {
  return `"${shortened(source)}"`;
}

/** The first 40 characters of a piece of the formula, followed by … if it is longer. */
function shortened(source: string): string {
  const characters = [...source.slice(0, 82)]; // A character is one or two code units.
  return characters.length > 40 ? `${characters.slice(0, 40).join('')}…` : source;
}
