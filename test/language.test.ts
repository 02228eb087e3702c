import { expect, test } from 'vitest';
import { findings, findingsInPage, findingsInSource, findingsInTitles } from './language.ts';

test('comments, messages and docs are in plain English: `node test/language.ts` lists the violations', () => {
  expect(findings()).toEqual([]);
});

const rulesOf = (source: string) =>
  findingsInSource('a.ts', source).map(({ rule, line }) => `${line}: ${rule}`);

test('the check finds a word to avoid in comments and messages, with its line, but not in names and keys', () => {
  expect(rulesOf('/**\n * Waits until\n * nobody is there.\n */\nconst a = 1;')).toEqual([
    '3: somebody, nobody: name the thing',
  ]);
  expect(rulesOf("const a = 1; // the table is away\nlog('Jobs go on with it');")).toEqual([
    '1: away: unavailable',
    '2: go on: continue, resume',
  ]);
  expect(rulesOf('say(`told of it`);')).toEqual(['1: tell, told: report, say, print']);
  expect(rulesOf("const nobody = 'nobody'; // goes on the queue")).toEqual([]);
});

test('the check finds a name that begins with MOST_ instead of MAX_', () => {
  expect(rulesOf('const MOST_PARTS = 1;')).toEqual(['1: MOST_, LEAST_, LONGEST_: MAX_, MIN_']);
  expect(rulesOf('const MAX_PARTS = 1;')).toEqual([]);
});

test('a sentence of a docstring has at most 35 words; a shorter one after it begins anew', () => {
  const sentence = `${'word '.repeat(36).trim()}.`;

  expect(rulesOf(`/** ${sentence} */\nconst a = 1;`)).toEqual(['1: sentence of a docstring over 35 words']);
  expect(rulesOf(`/** ${'word '.repeat(35).trim()}. Then another one. */\nconst a = 1;`)).toEqual([]);
  expect(rulesOf(`// ${sentence}\nconst a = 1;`)).toEqual([]);
});

test('a docstring names what it is about', () => {
  const nameless = ['docstring without a subject: Of a …, Those that …, By its …, As in …'].map(
    (rule) => `1: ${rule}`,
  );

  expect(rulesOf('/** Of a card its title. */\nconst a = 1;')).toEqual(nameless);
  expect(rulesOf('/** Those that failed. */\nconst a = 1;')).toEqual(nameless);
  expect(rulesOf('/** The same of a list. */\nconst a = 1;')).toEqual(nameless);
  expect(rulesOf('/** By its key. */\nconst a = 1;')).toEqual(nameless);
  expect(rulesOf('/** As in a row of a search; null without links. */\nconst a = 1;')).toEqual(nameless);
  expect(rulesOf('/** In bytes; null for a directory. */\nconst a = 1;')).toEqual(nameless);
  expect(rulesOf('/** The title of a card. */\nconst a = 1;')).toEqual([]);
});

test.each([
  'Uses what it is given.',
  'The number of the name, and 1 more.',
  'Opens the table that is set.',
  'What is said of a run.',
  'Called at the end. Default: nothing does.',
  'Waits for so long.',
  'The name; undefined if there is none.',
  'Makes a function that reads.',
])('the check finds a riddle: %s', (words) => {
  expect(rulesOf(`// ${words}\n`)).toHaveLength(1);
});

test('the check accepts plain words', () => {
  expect(rulesOf('// It has so many rows that none is read. Default: false.\n')).toEqual([]);
});

test('a docstring says more than the name below it', () => {
  expect(rulesOf('/** The key of the part. */\nexport const partKey = 1;')).toEqual([
    '1: docstring that only repeats the name',
  ]);
  expect(rulesOf('/** Reads the rows. */\nreadonly readRows: () => void;')).toHaveLength(1);
  expect(rulesOf('/** The key of the part in the store. */\nexport const partKey = 1;')).toEqual([]);
  expect(rulesOf('/** The key, as `part`. */\nexport const partKey = 1;')).toEqual([]);
});

test('the check finds a word to avoid in the title of a test or a group, but not in its body', () => {
  const [away, missing] = ['the table is away', '%s is none'];
  const source = `describe('${away}', () => {\n  test.each(names)('${missing}', (name) => say('nobody knows', name));\n});`;

  expect(findingsInTitles('a.test.ts', source).map(({ rule, line }) => `${line}: ${rule}`)).toEqual([
    '1: away: unavailable',
    '2: is none: invalid, missing',
  ]);
});

test('the check reads only the prose of a page: no code and no link target', () => {
  const page = 'A [table](is-away.md) is made.\n```\nnobody\n```\nNot `nobody`.\nWho tells it?';

  expect(findingsInPage('a.md', page).map(({ rule, line }) => `${line}: ${rule}`)).toEqual([
    '6: tell, told: report, say, print',
  ]);
});
