import fc from 'fast-check';
import { expect, test } from 'vitest';
import { redact } from '../../lib/platform/redact.ts';

const TOKEN = 'SECRET-5f2c9a/+b=7e41';
const encoded = (text: string, encoding: BufferEncoding) => Buffer.from(text).toString(encoding);
const each = (form: (code: number) => string) =>
  Array.from(TOKEN, (character) => form(character.charCodeAt(0))).join('');

test('removes every occurrence, and nothing if there is no token', () => {
  expect(redact('a abc b abcabc', 'abc')).toBe('a [token] b [token][token]');
  expect(redact('a$&b', 'a$&b')).toBe('[token]');
  expect(redact('a (b) [c]', '(b)')).toBe('a [token] [c]');
  expect(redact('text', '')).toBe('text');
});

test.each([
  ['in lower case', TOKEN.toLowerCase()],
  ['in upper case', TOKEN.toUpperCase()],
  ['in an address', encodeURIComponent(TOKEN)],
  ['in an address, in lower case', encodeURIComponent(TOKEN).toLowerCase()],
  ['in an address, each character', each((code) => `%${code.toString(16)}`)],
  ['in HTML, by number', each((code) => `&#${code};`)],
  ['in HTML, by number in hex', each((code) => `&#x00${code.toString(16)};`)],
  ['in HTML, by name', TOKEN.replace('/', '&sol;').replace('+', '&plus;').replace('=', '&equals;')],
  ['in JSON, with escaped slashes', TOKEN.replace('/', String.raw`\/`)],
  ['in JSON, by number', each((code) => String.raw`\u00${code.toString(16)}`)],
  ['in hex', encoded(TOKEN, 'hex')],
  ['in hex, in upper case', encoded(TOKEN, 'hex').toUpperCase()],
  ['in base64', encoded(TOKEN, 'base64')],
  ['in base64 for addresses', encoded(TOKEN, 'base64url')],
])('removes a token %s', (_name, echo) => {
  expect(redact(`before ${echo} after`, TOKEN)).toMatch(/^before \[token\]=* after$/);
});

test('what remains of a token within a longer text in base64 decodes to no piece of it', () => {
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
