import type { CommandCase } from '../command-case.ts';

/* Invalid command lines. */

export const CLEAR = '\u001b[2J\u001b]0;title\u0007';
export const LONG = 'x'.repeat(1_000_000);

/** Command lines that are rejected with this message. */
export const usage = (says: RegExp, ...lines: readonly (readonly string[])[]) =>
  lines.map(
    (argv): CommandCase => ({
      name: argv.map((word) => JSON.stringify(word).slice(0, 60)).join(' '),
      argv,
      code: 2,
      says,
    }),
  );

/** Member names that every JavaScript object has, used where one of our names is expected. */
const OWN = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];

const UUID = '6f1d2c84-3b7e-4a59-9c0d-8e25b1a7f403';

export const usageCases: readonly CommandCase[] = [
  ...usage(/^error: unknown command '/, ...[...OWN, LONG, CLEAR, '-', '../x'].map((name) => [name])),
  ...usage(/^error: unknown command '/, ...OWN.map((name) => ['snapshot', name])),
  ...usage(
    /^error: unknown option '/,
    ['runs', '--__proto__'],
    ['runs', `--${LONG}`],
    ['work', '--toString'],
  ),
  ...usage(
    /--input: expected a JSON object/,
    ...['[', '[1]', 'null', '"x"', LONG].map((input) => ['call', UUID, '1', 'f', '--input', input]),
  ),
  ...usage(
    /Expected /,
    ...[...OWN, LONG, CLEAR, '../calculations', 'calculations.', '.', ''].map((place) => ['runs', place]),
    ...[...OWN, LONG, CLEAR, '../calculations', 'results/', '_cache', ''].map((place) => ['tables', place]),
    ...[...OWN, LONG, '../../etc/passwd', '..'].map((run) => ['publish', 'calculations', run]),
    ...['-1', '0', '1e9', 'NaN', LONG].map((limit) => ['runs', '--limit', limit]),
    ...['-5', '1.5', '9'.repeat(400), LONG].map((most) => ['score', 'f', '--text', 't', '--max-calls', most]),
  ),
  ...usage(
    /^platform-sync: (package|version|function): expected /,
    ['call', 'x', '1', 'f'],
    ['call', UUID, '..', 'f'],
    ['call', UUID, '1/2', 'f'],
    ['call', UUID, '1', 'f/g'],
    ['call', UUID, '1', '\ud800'],
    ['call', LONG, '1', 'f'],
  ),
  ...usage(
    /expected /i,
    ['forget'],
    ['forget', '--text-hash', LONG],
    ['forget', '--batch', '../x'],
    ['forget', '--batch', '..'],
    ['forget', '--batch', CLEAR],
  ),
  ...usage(
    /expected /i,
    ['formula', 'log', '1'.repeat(2_000)],
    ['formula', 'log', '../1'],
    ['formula', 'set', '1'.repeat(2_000), '-'],
    ['snapshot', 'data-files', '--id', '9'.repeat(100_000)],
    ['snapshot', 'data-files', '--id', '1.5'],
    ['snapshot', 'files', '--fileset', '../x'],
    ['snapshot', 'cards', '--dataset', '..'],
    ['snapshot', 'calculations', '--as', '../x'],
    ['snapshot', 'calculations', '--resume', '../../x'],
  ),
];
