import type { CommandCase } from '../command-case.ts';

/* Hostile objects in the store. */

const RUN = '20261121T091500Z-3fa9c1';
const DEEP = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;

const HOSTILE: Readonly<Record<string, string | Buffer>> = {
  nothing: '',
  'no JSON': '{',
  null: 'null',
  'a list': '[]',
  'an empty object': '{}',
  'bytes that are not text': Buffer.from([0xff, 0xfe, 0x00]),
  'lists nested 100,000 deep': DEEP,
  'a million digits': '9'.repeat(1_000_000),
  'a member called __proto__': '{"__proto__":{"run":"x"}}',
  'names that lead elsewhere':
    '{"version":1,"run":"../../x","manifest":"../../../etc/passwd","startedAt":"2026-11-21T09:15:00.000Z"}',
  '10 MB of text': JSON.stringify({ run: 'x'.repeat(10_000_000) }),
};

const planted = (
  key: string,
  argv: readonly string[],
  expected: Pick<CommandCase, 'code' | 'says'>,
  but: Readonly<Record<string, Partial<CommandCase>>> = {},
) =>
  Object.entries(HOSTILE).map(
    ([name, content]): CommandCase => ({
      name: `${argv.join(' ')}: ${name} at ${key}`,
      argv,
      files: { [`store/${key}`]: content },
      ...expected,
      ...but[name],
    }),
  );

const INVALID = { code: 1, says: /^platform-sync: .{1,600}$/m } as const;
/** The listed records may be any objects that the platform returned. */
const LISTED = {
  code: 0,
  says: /^the formula that calculation 1 had before platform-sync’s first update cannot be recovered/,
} as const;
const WORK = `work/calculations/${RUN}`;

export const objectCases: readonly CommandCase[] = [
  ...planted('calculations/latest.json', ['diff', 'calculations'], INVALID),
  ...planted('calculations/latest.json', ['snapshot', 'cards'], INVALID),
  ...planted('calculations/latest.json', ['runs', 'calculations'], {
    code: 3,
    says: /^calculations: .{1,600}$/,
  }),
  ...planted('calculations/latest.json', ['tables', 'calculations'], {
    code: 3,
    says: /^skipped calculations latest\.json: .{1,600}$/,
  }),
  ...planted(`${WORK}/_checkpoint.json`, ['snapshot', 'calculations', '--resume', RUN], INVALID),
  ...planted(`${WORK}/_manifest.json`, ['publish', 'calculations', RUN], INVALID),
  ...planted('formulas/1/20261121T091500123Z.json', ['formula', 'log', '1'], INVALID, {
    'an empty object': LISTED,
    'a member called __proto__': LISTED,
    'names that lead elsewhere': LISTED,
    '10 MB of text': LISTED,
  }),
];
