/**
 * Removes a token from a text that somebody else wrote, such as an error body that echoes a header: as it is, in other
 * letter case, with any of its characters encoded as in an address, in HTML or in JSON, in hex, and in base64, also
 * where it is part of a longer text that was encoded.
 */
export function redact(text: string, token: string): string {
  if (token === '') return text;
  return text.replaceAll(echoesOf(token), '[token]');
}

let last = { token: '', echoes: /(?!)/g };

/** Matches the token in all these forms. The last one is remembered: a process has one token at a time. */
function echoesOf(token: string): RegExp {
  if (last.token !== token) last = { token, echoes: makeEchoes(token) };
  return last.echoes;
}

function makeEchoes(token: string): RegExp {
  const bytes = Buffer.from(token.toWellFormed());
  const encoded = token.length < SHORTEST_ENCODED ? [] : [bytes.toString('hex'), ...base64Of(bytes)];
  return new RegExp([Array.from(token, anyForm).join(''), ...encoded.map(literal)].join('|'), 'gi');
}

/** The encodings of a shorter token would occur in other texts by chance. */
const SHORTEST_ENCODED = 8;

const NAMED: Readonly<Record<string, string>> = {
  '&': 'amp',
  '<': 'lt',
  '>': 'gt',
  '"': 'quot',
  "'": 'apos',
  '/': 'sol',
  '+': 'plus',
  '=': 'equals',
};

/** One character of the token, plain or encoded. */
function anyForm(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  const inAddress = Array.from(
    Buffer.from(character.toWellFormed()),
    (byte) => `%${byte.toString(16).padStart(2, '0')}`,
  ).join('');
  const name = NAMED[character];
  const forms = [
    literal(character),
    inAddress,
    `&#0*${code};?`,
    `&#x0*${hex};?`,
    ...(name === undefined ? [] : [`&${name};?`]),
    `\\\\u${hex.padStart(4, '0')}`,
    `\\\\x${hex.padStart(2, '0')}`,
    `\\\\${literal(character)}`,
  ];
  return `(?:${forms.join('|')})`;
}

/**
 * Three bytes make four characters, so the token reads differently by how many bytes are before it. The characters at
 * either end also depend on the neighbouring bytes, and are left.
 */
function base64Of(token: Buffer): readonly string[] {
  const shifted = [0, 1, 2].map((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), token])
      .toString('base64')
      .replaceAll('=', '');
    const depending = [0, 2, 3][before] ?? 0;
    return whole.slice(depending, Math.floor(((before + token.length) * 8) / 6));
  });
  return shifted.flatMap((text) => [text, text.replaceAll('+', '-').replaceAll('/', '_')]);
}

const literal = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
