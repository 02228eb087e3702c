import { globSync, readFileSync } from 'node:fs';

/*
 * Finds what is not plain English in comments, messages, test titles and docs, and counts it by rule.
 * `node test/language.ts` prints the counts, and each violation by file. An argument, such as `away` or `lib/cli/`,
 * selects rules or files.
 */

export type Finding = {
  readonly rule: string;
  readonly file: string;
  readonly line: number;
  readonly text: string;
};

/** Words to avoid, with what to write instead. A word that also has a plain meaning is matched only in its unusual one. */
const WORDS: Readonly<Record<string, RegExp>> = {
  'somebody, nobody: name the thing': /\b(?:some|any|every|no)body\b|\bsomeone\b|\bwho(?:m|so)?ever\b/gi,
  'tell, told: report, say, print': /\b(?:told|tells?|telling)\b(?! apart)/gi,
  'answer, as a verb: return, respond':
    /\banswer(?:ed|ing)\b|\banswers (?:for|nothing|the|what)\b|\b(?:can|cannot|may|must|not|should|to|will|would) answer\b/gi,
  'pass over: skip':
    /(?<!\b(?:an?|each|first|last|one|second|single) )\bpass(?:es|ed|ing)? (?:it |them )?over\b/gi,
  'note: record': /\b(?:is|are|was|were|been|be) noted\b|\bnotes (?:that|what|when)\b/gi,
  'what became of: outcome': /\b(?:became|becomes?) of\b/gi,
  'is none: invalid, missing': /(?<!\bthere )\bis none\b/gi,
  'there is none: name what is missing': /\bthere (?:is|are|was|were) none\b/gi,
  'comes no further: makes no progress': /\bcomes? no further\b/gi,
  'as like as not: most likely': /\bas like as not\b/gi,
  'its word counts: its outcome wins': /\b(?:its|their|whose) words? counts?\b/gi,
  'go on: continue, resume':
    /\b(?:go|goes|going|gone|went) on\b(?! (?:an?|behalf|each|every|its|one|other|standard|the)\b)|\bway on\b/gi,
  'mend: fix': /\bmend(?:s|ed|ing)?\b/gi,
  'no longer than: at most': /\bno longer than\b/gi,
  'away: unavailable': /\b(?:be|been|being|is|are|was|were|stay|stays|stayed) away\b/gi,
  'the most, the least: maximum, minimum':
    /\bthe (?:most|least|longest) (?:(?!likely|recent)\w+ )?(?:that|to|of)\b/gi,
  'hand back, put back: requeue':
    /\b(?:hand(?:s|ed|ing)?|put(?:s|ting)?) (?:(?:it|them|(?:(?:the|all|other|its) )*(?:job|message|send)s?) )?back\b/gi,
  'spell: throttling': /\b(?:a|the|each|this|new) spells?\b|\blowered (?:pace|rate)\b/gi,
  'calls what it is given: registers a callback': /\bcalls what (?:it is|they are|is) given\b/gi,
  'make tables: build tables':
    /\btables? (?:is|are|was|were|be|been) made\b|\bma(?:de|ke|kes|king) (?:the |its |their )?tables\b/gi,
  'make go: delete': /\bma(?:de|ke|kes) (?:\w+ )?go\b|\bso that none is left\b/gi,
  'what it is given: name the argument': /\b(?:what|whatever) (?:it|they) (?:is|are|was|were) given\b/gi,
  'and 1 more: plus 1': /\band 1 more\b/gi,
  'the table that is set: the configured table':
    /\b(?:table|queue|store|ledger|bus|platform) that is set\b/gi,
  'is said of: name what is said': /\b(?:is|are|was|were) said (?:of|about)\b/gi,
  'Default: nothing does: not called, false, none':
    /\bDefault: (?:nothing|none|it|they|all|there) (?:is|are|does|do|can)(?: not| none)?[.,;]/g,
  'so many, so long: this many, this long':
    /\b[Ss]o (?:many|much|long|often)\b(?! (?:as|that)\b)(?=[^.;]{0,12}[.;,\n]| (?:bytes|bits|characters|digits|hours|items|lines|milliseconds|minutes|places|rows|texts)\b(?! that))/g,
  'makes a function: creates': /\bMakes (?:a|the) (?:function|clock|pace|schema|client|reader)\b/g,
};

const NAMES = /\b(?:MOST|LEAST|LONGEST|SHORTEST|FEWEST)_\w+/g;

/** Maximum number of words in a sentence of a docstring. */
const MAX_SENTENCE_WORDS = 35;
const LONG_SENTENCE = `sentence of a docstring over ${MAX_SENTENCE_WORDS} words`;
const REPEATED_NAME = 'docstring that only repeats the name';
const NAMELESS = 'docstring without a subject: Of a …, Those that …, By its …, As in …';
const OLD_NAME = 'MOST_, LEAST_, LONGEST_: MAX_, MIN_';

const rules: readonly string[] = [...Object.keys(WORDS), OLD_NAME, LONG_SENTENCE, REPEATED_NAME, NAMELESS];

/** Matches comments and strings of a source. A template inside another ends the outer one early, which is read in pieces. */
const TOKENS =
  /(?<block>\/\*[\s\S]*?\*\/)|(?<line>(?<=^|\s)\/\/.*)|(?<string>'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`)/gm;

type Passage = {
  readonly kind: 'docstring' | 'words';
  readonly text: string;
  readonly at: number;
  readonly end: number;
};

/** Whether a string is for people: it has a space between two words. Others are keys, paths and names. */
const isForPeople = (text: string) => /[a-z,;:] [a-z{$`]/i.test(text);

const passagesOf = (source: string): readonly Passage[] =>
  [...source.matchAll(TOKENS)].flatMap(({ index, 0: token, groups }): Passage[] => {
    const place = { at: index, end: index + token.length };
    if (groups?.['string'] !== undefined)
      return isForPeople(token) ? [{ kind: 'words', text: token, ...place }] : [];
    const kind = token.startsWith('/**') ? 'docstring' : 'words';
    // The result has the same length, so that its positions are those of the source.
    const text = token
      .replace(/^\/\*\*?|\*\/$|^\/\//g, '  ')
      .replaceAll(/\n\s*\* ?/g, (start) => start.replace('*', ' '));
    return [{ kind, text, ...place }];
  });

const lineAt = (source: string, at: number): number => source.slice(0, at).split('\n').length;
const shown = (text: string): string => text.replaceAll(/\s+/g, ' ').trim().slice(0, 160);

const wordsIn = (text: string): readonly string[] => text.split(/\s+/).filter((word) => /\w/.test(word));

/** Splits a docstring into sentences, which end at a full stop, at an empty line, or where a list item begins. */
const sentencesOf = (docstring: string): readonly string[] =>
  docstring
    .split(/[.!?:](?=\s|$)|\n\s*\n|\n\s*(?:-|\d\.) |@\w+/)
    .map((sentence) => sentence.replace(/```[\s\S]*?```/g, ''));

const DECLARED =
  /^\s*(?:(?:export|default|declare|async|readonly|const|let|function\*?|class|type|interface|get|static|private) )*['"]?(?<name>[A-Za-z_$][\w$]*)/;
const FILLERS = new Set('a an the of to its it this that is are each for in as and with'.split(' '));
const stem = (word: string): string => word.toLowerCase().replace(/(?:ies|es|s|ed|ing|e)$/, '');

/** Matches a docstring whose first words do not name its subject. */
const BEGINS_NAMELESS =
  /^\s*(?:Of (?:an?|each|the|th[eo]se|them|it|one|all)|Those (?:that|of|with)|The same (?:of|as)|By (?:how|its|the|their)|As (?:in|many|much)|In (?:bytes|the)|With (?:less|more)|From (?:this|where)|Also|Not)\b/;

/** Whether all words of a docstring are in the name below it: `The key of the part.` above `partKey`. */
function repeatsName(docstring: string, below: string): boolean {
  const name = DECLARED.exec(below)?.groups?.['name'];
  if (name === undefined) return false;
  const inName = new Set((name.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? []).map(stem));
  const said = (docstring.match(/[A-Za-z]+/g) ?? []).filter((word) => !FILLERS.has(word.toLowerCase()));
  const isPlain = !/[`\d<>]/.test(docstring);
  return isPlain && said.length > 0 && said.every((word) => inName.has(stem(word)));
}

/** The findings in one TypeScript source. */
export function findingsInSource(file: string, source: string): readonly Finding[] {
  const found = (rule: string, at: number, text: string): Finding => ({
    rule,
    file,
    line: lineAt(source, at),
    text: shown(text),
  });
  const passages = passagesOf(source);
  const docstrings = passages.filter(({ kind }) => kind === 'docstring');
  return [
    ...passages.flatMap(({ text, at }) =>
      inWords(text).map(({ rule, index, around }) => found(rule, at + index, around)),
    ),
    ...[...source.matchAll(NAMES)].map(({ 0: name, index }) => found(OLD_NAME, index, name)),
    ...docstrings.flatMap(({ text, at }) =>
      sentencesOf(text)
        .filter((sentence) => wordsIn(sentence).length > MAX_SENTENCE_WORDS)
        .map((sentence) => found(LONG_SENTENCE, at, sentence)),
    ),
    ...docstrings
      .filter(({ text, end }) => repeatsName(text, source.slice(end)))
      .map(({ text, at }) => found(REPEATED_NAME, at, text)),
    ...docstrings
      .filter(({ text }) => BEGINS_NAMELESS.test(text))
      .map(({ text, at }) => found(NAMELESS, at, text)),
  ];
}

/** The findings in one page, without its code blocks, inline code and link targets. */
export function findingsInPage(file: string, page: string): readonly Finding[] {
  const blank = (text: string) => text.replaceAll(/[^\n]/g, ' ');
  const prose = page
    .replaceAll(/^```[\s\S]*?^```$/gm, blank)
    .replaceAll(/`[^`\n]*`/g, blank)
    .replaceAll(/\]\([^)\s]*\)/g, blank);
  return inWords(prose).map(({ rule, index, around }) => ({
    rule,
    file,
    line: lineAt(prose, index),
    text: shown(around),
  }));
}

const inWords = (text: string) =>
  Object.entries(WORDS).flatMap(([rule, pattern]) =>
    [...text.matchAll(pattern)].map(({ index, 0: { length } }) => ({
      rule,
      index,
      around: text.slice(Math.max(0, index - 60), index + length + 60),
    })),
  );

/** The title of a test or a group, which a comma and its function follow. */
const TITLES =
  /(?:\b(?:test|describe)(?:\.\w+)*|\))\(\s*(?<title>'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`[^`]*`)\s*,\s*(?:async|[({]|\w+\))/g;

/** The findings in the titles of one test file. */
export const findingsInTitles = (file: string, source: string): readonly Finding[] =>
  [...source.matchAll(TITLES)].flatMap(({ index, groups }) =>
    inWords(groups?.['title'] ?? '').map(({ rule, around }) => ({
      rule,
      file,
      line: lineAt(source, index),
      text: shown(around),
    })),
  );

/** All findings in code that ships, in test titles, and in pages that people wrote. */
export function findings(): readonly Finding[] {
  const sources = globSync('{lib,functions,infra}/**/*.{ts,tsx}').sort();
  const tests = globSync('test/**/*.{ts,tsx}').sort();
  const pages = ['README.md', 'infra/RUNBOOK.md', ...globSync('docs/**/*.md').sort()];
  return [
    ...sources.flatMap((file) => findingsInSource(file, readFileSync(file, 'utf8'))),
    ...tests.flatMap((file) => findingsInTitles(file, readFileSync(file, 'utf8'))),
    ...pages
      .map((file) => ({ file, text: readFileSync(file, 'utf8') }))
      .filter(({ text }) => !text.startsWith('<!-- generated'))
      .flatMap(({ file, text }) => findingsInPage(file, text)),
  ];
}

/** The number of findings by rule. */
const countsOf = (all: readonly Finding[]): Readonly<Record<string, number>> =>
  Object.fromEntries(rules.map((rule) => [rule, all.filter((each) => each.rule === rule).length]));

if (import.meta.main) {
  const [word = ''] = process.argv.slice(2);
  const all = findings().filter(({ rule, file }) => rule.includes(word) || file.startsWith(word));
  for (const { file, line, rule, text } of all) console.log(`${file}:${line}: ${rule}\n    ${text}`);
  for (const [rule, count] of Object.entries(countsOf(all))) console.log(`${count}\t${rule}`);
}
