import { gzipSync } from 'node:zlib';
import type { CommandCase } from '../command-case.ts';

/* Hostile files as the input of commands. */

const DEEP = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
const DIGITS = '9'.repeat(1_000_000);
const names = (count: number) => Array.from({ length: count }, (_, at) => `c${at}`).join(',');

type Content = string | Buffer;

const given = (
  argv: readonly string[],
  code: CommandCase['code'],
  says: RegExp,
  contents: Readonly<Record<string, Content>>,
) =>
  Object.entries(contents).map(
    ([name, content]): CommandCase => ({
      name: `${argv.slice(0, 2).join(' ')}: ${name}`,
      argv,
      files: { input: content },
      code,
      says,
    }),
  );

const SUBMIT = ['submit', '{folder}/input', '--dry-run'];
const SCORE = ['score', '{folder}/input', '--text', 'text', '--dry-run'];
const CHECK = ['formula', 'check', '{folder}/input'];
const message = (fields: string) => `{"version":1,"type":"data-files",${fields}}\n`;

export const fileCases: readonly CommandCase[] = [
  ...given(
    SUBMIT,
    2,
    /^platform-sync: .*\/input: line 1: .*expected (utf-16le, got invalid bytes|at most 1048576 bytes, got more)/,
    {
      'bytes that are not text': Buffer.from([0xff, 0xfe, 0x00, 0xd8]),
      'a line of 2 MB': message(`"ids":[1],"expand":"${'x'.repeat(2_000_000)}"`),
    },
  ),
  ...given(SUBMIT, 2, /^platform-sync: .*\/input: expected one job per line; nothing was sent:\n {2}/, {
    nothing: '',
    'no JSON': 'x\n',
    'half an object': '{"version":1,\n',
    'a list': '[]\n',
    null: 'null\n',
    'lists nested 100,000 deep': `${DEEP}\n`,
    'a line of a million digits': `${DIGITS}\n`,
    'an id of a million digits': message(`"ids":["${DIGITS}"]`),
    'an id of 2,000 digits': message(`"ids":[${DIGITS.slice(0, 2_000)}]`),
    'an id below zero and a fraction': message('"ids":[-1.5]'),
    'an id in a power of ten': message('"ids":[1e400]'),
    'no ids': message('"ids":[]'),
    '10,000 ids': message(`"ids":[${names(10_000).replaceAll('c', '')}]`),
    'a member called __proto__': message('"ids":[1],"__proto__":{"x":1}'),
    'a member called constructor': message('"ids":[1],"constructor":1'),
    'a type called toString': '{"version":1,"type":"toString"}\n',
    'an id with a slash': message('"id":"a/b","ids":[1]'),
    'an id with a control character': message('"id":"\\u001b[2J","ids":[1]'),
    'a version with a slash':
      '{"version":1,"type":"run-function","packageId":"6f1d2c84-3b7e-4a59-9c0d-8e25b1a7f403","packageVersion":"1/2","functionName":"f"}\n',
    'half a surrogate pair':
      '{"version":1,"type":"run-function","packageId":"6f1d2c84-3b7e-4a59-9c0d-8e25b1a7f403","packageVersion":"1","functionName":"\\ud800"}\n',
    '20,000 faulty lines': 'x\n'.repeat(20_000),
    gzip: gzipSync('{}'),
    'the same id twice': message('"id":"a","ids":[1]').repeat(2),
  }),
  ...given(SCORE, 2, /^platform-sync: .*\/input: /, {
    nothing: '',
    'a header without the column': 'a,b\n1,2\n',
    'a header with 50,000 other names': `${names(50_000)}\n`,
    'a header with the column twice': 'text,text\na,b\n',
    'a header that never ends': `"text${'x'.repeat(2_000_000)}`,
    'a member called __proto__ as the column': '__proto__\nx\n',
  }),
  ...given(SCORE, 2, /^platform-sync: .*gzip: expected a complete file/, {
    'gzip that is cut off': gzipSync('text\nfine\n'.repeat(1_000)).subarray(0, 40),
  }),
  ...given(CHECK, 1, /^$/, {
    nothing: '',
    'an open quote': "'",
    'a comment without an end': '/*',
    '100,000 brackets': '('.repeat(100_000),
    '100,000 brackets, closed': `${'('.repeat(100_000)}1${')'.repeat(100_000)}`,
    'a million minus signs': '-'.repeat(1_000_000),
    '50,000 nested functions': `${'ABS('.repeat(50_000)}1${')'.repeat(50_000)}`,
    'control characters': '\u001b[2J\u202e',
    'half a surrogate pair': '\ud800',
    'CASE without an end': 'CASE WHEN 1 THEN '.repeat(20_000),
    'operators only': '+*/-'.repeat(100_000),
  }),
  ...given(CHECK, 2, /^platform-sync: .*\/input: line 1: .*expected at most 1048576 bytes, got more$/, {
    'two million characters': `'${'x'.repeat(2_000_000)}'`,
  }),
];
