import fc from 'fast-check';
import { expect, test } from 'vitest';
import { redact } from '../../lib/platform/redact.ts';
import { cpuMs } from '../cpu-time.ts';
import { scaled } from '../scale.ts';

const TOKEN = 'SECRET-5f2c9a/+b=7e41';
const encoded = (text: string, encoding: BufferEncoding) => Buffer.from(text).toString(encoding);

/** The encodings in which a text may come back. */
const FORMS = {
  'as it is': (text: string) => text,
  'in lower case': (text: string) => text.toLowerCase(),
  'in upper case': (text: string) => text.toUpperCase(),
  'in hex': (text: string) => encoded(text, 'hex'),
  'in hex, in upper case': (text: string) => encoded(text, 'hex').toUpperCase(),
  'in base64': (text: string) => encoded(text, 'base64'),
  'in base64 for addresses': (text: string) => encoded(text, 'base64url'),
} as const;

test('redacting removes every occurrence of the token, and nothing if there is no token', () => {
  expect(redact('a abc b abcabc', 'abc')).toBe('a [token] b [token][token]');
  expect(redact('a$&b', 'a$&b')).toBe('[token]');
  expect(redact('a (b) [c]', '(b)')).toBe('a [token] [c]');
  expect(redact('text', '')).toBe('text');
});

test.each(Object.entries(FORMS))('redacting removes a token written %s', (_name, form) => {
  expect(redact(`before ${form(TOKEN)} after`, TOKEN)).toMatch(/^before \[token\]=* after$/);
});

test.each([
  ['an address', encodeURIComponent(TOKEN)],
  ['HTML', TOKEN.replace('+', '&plus;')],
  ['JSON', TOKEN.replace('/', String.raw`\/`)],
])('redacting leaves less than eight characters in a row of a token partly escaped in %s', (_, text) => {
  const shown = redact(text, TOKEN);

  expect(shown).toContain('[token]');
  for (let at = 0; at + 8 <= TOKEN.length; at += 1) expect(shown).not.toContain(TOKEN.slice(at, at + 8));
});

test('redacting removes a token that was cut off, but leaves pieces of seven characters', () => {
  expect(redact(`got ${TOKEN.slice(0, -3)}…`, TOKEN)).toBe('got [token]…');
  expect(redact(`got ${TOKEN.slice(2, 10)} and ${TOKEN.slice(2, 9)}`, TOKEN)).toBe('got [token] and CRET-5f');
});

const tokens = fc.string({
  unit: fc.constantFrom(...'abcXYZ0189-_.~+/=%&\\"<;u'),
  minLength: 8,
  maxLength: 60,
});

test('no eight consecutive characters of any token are shown, in any form', () => {
  const cases = fc.record({
    token: tokens,
    from: fc.nat(52),
    length: fc.integer({ min: 8, max: 60 }),
    form: fc.constantFrom(...Object.entries(FORMS)),
    // These characters occur neither in tokens nor in encodings.
    around: fc.tuple(fc.constantFrom('', '«', '« é€😀'), fc.constantFrom('', '»')),
  });

  fc.assert(
    fc.property(cases, ({ token, from, length, form: [name, form], around: [before, after] }) => {
      const start = Math.min(from, token.length - 8);
      const run = token.slice(start, start + length);

      const shown = redact(`${before}${form(run)}${after}`, token);

      // The last character of base64 reveals at most four bits of the token's last one.
      const rest = name.includes('base64') ? shown.replace(/\][\w+/-]?=*/, ']') : shown;
      expect(rest).toBe(`${before}[token]${after}`);
    }),
    { numRuns: scaled(500, 20_000) },
  );
});

test('the rest of a token within a longer base64 string does not decode to a piece of the token', () => {
  const around = fc.string({ maxLength: 12, unit: 'binary-ascii' });
  fc.assert(
    fc.property(around, around, fc.constantFrom('base64', 'base64url'), (before, after, encoding) => {
      const shown = redact(encoded(`${before}${TOKEN}${after}`, encoding), TOKEN);

      expect(shown).toContain('[token]');
      for (const rest of shown.split('[token]'))
        expect(Buffer.from(rest, encoding).toString()).not.toContain(TOKEN.slice(0, 3));
    }),
  );
});

test('redacting the largest body of an error and the longest token takes no noticeable time', async () => {
  const body = '%41&amp;\\u0041SECRET-'.repeat(3_000);

  expect(await cpuMs(() => redact(body, TOKEN.repeat(200)))).toBeLessThan(2_000);
});
