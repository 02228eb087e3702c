import { isUtf8 } from 'node:buffer';
import { shownText } from '../base/index.ts';

const loadIconv = async () => (await import('iconv-lite')).default;

/** Names of encodings that users or the web standard use, each with the name that iconv-lite uses. */
const ALIASES: Readonly<Record<string, string>> = {
  'x-mac-cyrillic': 'maccyrillic',
  'mac os roman': 'macintosh',
  ansi: 'windows-1252',
  unicode: 'utf-16le',
};

/** Encodings that iconv-lite knows, but no text file has. */
const UNUSED_BY_TEXTS = /^(hex|base64|binary|internal|utf-?7.*|ucs-?2|utf-?32.*)$/;

/**
 * The name of the encoding that a label stands for: `latin1` is `windows-1252`, as on the web; undefined for an unknown
 * label.
 */
export async function encodingNamed(label: string): Promise<string | undefined> {
  const lowerCase = label.trim().toLowerCase();
  const aliased = ALIASES[lowerCase] ?? lowerCase;
  const name = URL.canParse(`x:${aliased}`) ? standardName(aliased) : aliased;
  if (name === 'utf-8' || isUtf16(name)) return name;
  const known = ALIASES[name] ?? name;
  return !UNUSED_BY_TEXTS.test(known) && (await loadIconv()).encodingExists(known) ? known : undefined;
}

function standardName(label: string): string {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return label;
  }
}

/** Whether an encoding, by its name, is a form of UTF-16. */
export const isUtf16 = (encoding: string): boolean => encoding.startsWith('utf-16');

/** Creates the decoder of an encoding, for pieces of a text that cut no character. Invalid bytes become U+FFFD. */
export async function decoderOf(encoding: string): Promise<(bytes: Uint8Array) => string> {
  if (encoding === 'utf-8') {
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    return (bytes) => decoder.decode(bytes);
  }
  const iconv = await loadIconv();
  return (bytes) => iconv.decode(bytes, encoding, { stripBOM: false });
}

/** Creates the encoder of an encoding. It returns undefined if the encoding lacks a character of the text. */
export async function encoderOf(encoding: string): Promise<(text: string) => Buffer | undefined> {
  if (encoding === 'utf-8') return (text) => Buffer.from(text);
  const iconv = await loadIconv();
  return (text) => {
    const bytes = iconv.encode(text, encoding, { addBOM: false });
    return iconv.decode(bytes, encoding, { stripBOM: false }) === text ? bytes : undefined;
  };
}

/** The encodings that are possible, the most likely first, with the first non-ASCII lines as decoded by each. */
type Doubt = {
  readonly line: number;
  readonly readings: readonly { readonly encoding: string; readonly lines: readonly string[] }[];
};

/** A guess at the encoding. If the bytes do not decide, `doubt` is set, and `encoding` is the most likely one. */
export type Guess = { readonly encoding: string; readonly doubt?: Doubt | undefined };

/**
 * The encodings that Excel and Numbers write, and encodings that were usual before UTF-8. If two of them decode a text in
 * the same way, the first wins.
 */
const SINGLE_BYTE = [
  ...['windows-1252', 'macintosh', 'cp850', 'cp437', 'windows-1250', 'cp852', 'maccenteuro'],
  ...['windows-1251', 'cp866', 'koi8-r', 'maccyrillic', 'windows-1253', 'iso-8859-7', 'windows-1254'],
  ...['windows-1257', 'iso-8859-2', 'cp857', 'cp737', 'macgreek', 'macturkish'],
];

/**
 * An encoding is certain if, in each of the other encodings, the share of lines that make sense is smaller by at least
 * this much.
 */
const MIN_LEAD = 0.25;

/**
 * Guesses the encoding of a text without a mark from a sample of its lines; undefined if the bytes cannot be a text. It
 * is UTF-8 if most of the bytes beyond ASCII are valid UTF-8, which other encodings rarely are by chance. Otherwise it
 * is the encoding in which the words make sense, and it is certain if they make sense in no other encoding. `numbers`: the line
 * numbers of the sample, if it does not begin at the first line.
 */
export async function guessEncoding(
  sample: Uint8Array,
  numbers?: readonly number[],
): Promise<Guess | undefined> {
  const utf16 = unmarkedUtf16(sample);
  if (utf16 !== undefined) return { encoding: utf16 };
  if (sample.includes(0)) return undefined;
  const lines = linesOf(sample, numbers);
  const utf8 = utf8Share(sample);
  if (utf8 > MIN_UTF8_SHARE) return { encoding: 'utf-8' };
  if (utf8 > 0.5) return { encoding: 'utf-8', doubt: await doubtOf(['utf-8', 'windows-1252'], lines) };
  const readings = await readingsOf(lines);
  const [best] = readings;
  const rivals = readings.filter(
    ({ text, sense }) => text !== best?.text && sense > 0 && sense > (best?.sense ?? 0) - MIN_LEAD,
  );
  const likeliest = await likeliestByFrequency(sample);
  if (best !== undefined && best.sense > 1 - MIN_LEAD && rivals.length === 0 && isEnough(best.text))
    return { encoding: best.encoding };
  const sensible = [best, ...rivals].flatMap((each) =>
    each !== undefined && each.sense > 0 ? [each.encoding] : [],
  );
  const isLikely = likeliest !== undefined && (sensible.length === 0 || sensible.includes(likeliest));
  const encoding = (isLikely ? likeliest : sensible[0]) ?? 'windows-1252';
  const candidates = [encoding, ...sensible, ...(likeliest === undefined ? [] : [likeliest])];
  return { encoding, doubt: await doubtOf([...new Set(candidates)], lines) };
}

const SHOWN = { lines: 3, encodings: 5, characters: 120 };

async function doubtOf(encodings: readonly string[], lines: readonly NumberedBytes[]): Promise<Doubt> {
  const shown = lines.slice(0, SHOWN.lines);
  const readings = encodings.slice(0, SHOWN.encodings).map(async (encoding) => {
    const decode = await decoderOf(encoding);
    return {
      encoding,
      lines: shown.map(
        ({ number, bytes }) => `line ${number}: ${shownText(decode(bytes), SHOWN.characters)}`,
      ),
    };
  });
  return { line: lines[0]?.number ?? 1, readings: await Promise.all(readings) };
}

/** Whether a text has enough letters to decide: a few letters of a script other than Latin prove nothing. */
const isEnough = (text: string): boolean =>
  !/(?!\p{ASCII}|\p{sc=Latin})\p{L}/u.test(text) || (text.match(/\P{ASCII}/gu)?.length ?? 0) >= 24;

/**
 * The sample as each encoding decodes it, with the share of lines that make sense. If several encodings give the same
 * text, only the first of them is returned.
 */
async function readingsOf(lines: readonly NumberedBytes[]) {
  const readings = [];
  const seen = new Set<string>();
  for (const encoding of SINGLE_BYTE) {
    const decode = await decoderOf(encoding);
    const texts = lines.map(({ bytes }) => decode(bytes));
    const text = texts.join('\n');
    if (seen.has(text)) continue;
    seen.add(text);
    readings.push({ encoding, text, sense: 1 - texts.filter(isOddLine).length / texts.length });
  }
  return readings.sort((a, b) => b.sense - a.sense);
}

const MAX_LINES = 400;

type NumberedBytes = { readonly number: number; readonly bytes: Uint8Array };

/** The first lines that are not ASCII. */
function linesOf(sample: Uint8Array, numbers?: readonly number[]): readonly NumberedBytes[] {
  const text = Buffer.from(sample.buffer, sample.byteOffset, sample.byteLength).toString('latin1');
  return text
    .split(/\r\n|\n|\r/)
    .map((line, at) => ({ number: numbers?.[at] ?? at + 1, line }))
    .filter(({ line }) => /\P{ASCII}/u.test(line))
    .slice(0, MAX_LINES)
    .map(({ number, line }) => ({ number, bytes: Buffer.from(line, 'latin1') }));
}

/** Detects East Asian encodings, and languages by the frequency of their letters. */
async function likeliestByFrequency(sample: Uint8Array): Promise<string | undefined> {
  const { analyse } = await import('chardet');
  const [likeliest] = analyse(sample)
    .filter(({ name }) => !/ASCII|UTF-/.test(name))
    // Short Western texts are often mistaken for Baltic texts.
    .map(({ name, confidence }) => ({ name, weight: name === 'windows-1257' ? confidence / 3 : confidence }))
    .sort((a, b) => b.weight - a.weight);
  return likeliest === undefined ? undefined : encodingNamed(likeliest.name);
}

/** Recognizes UTF-16 without a byte order mark, as some databases export it: every second byte of ASCII text is zero. */
function unmarkedUtf16(sample: Uint8Array): string | undefined {
  const zeros = [0, 0];
  for (const [at, byte] of sample.entries()) if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  const half = sample.byteLength / 2;
  if (even === 0 && odd > half * 0.7) return 'utf-16le';
  return odd === 0 && even > half * 0.7 ? 'utf-16be' : undefined;
}

/** The share of valid UTF-8 above which a text is UTF-8 with some broken lines. */
const MIN_UTF8_SHARE = 0.74;

/** The share of characters beyond ASCII that are valid UTF-8. */
function utf8Share(sample: Uint8Array): number {
  if (isUtf8(sample)) return 1;
  // The last character may be cut off.
  const text = new TextDecoder().decode(sample, { stream: true });
  const replacementCharacters =
    Buffer.from(sample)
      .toString('latin1')
      .match(/\u00ef\u00bf\u00bd/g)?.length ?? 0;
  const broken = (text.match(/\uFFFD/g)?.length ?? 0) - replacementCharacters;
  const valid = text.match(/[\u0080-\uFFFC]/g)?.length ?? 0;
  return broken === 0 ? 1 : valid / (valid + broken);
}

/** The letters of languages beyond ASCII. The first line has the letters that English borrows. */
const ALPHABETS = [
  'àâäçèéêëîïñóôöùûüœæ',
  'äöüßéèàâêôçñ',
  'àâæçéèêëîïôœùûüÿ',
  'áéíñóúüçªº',
  'áâãàçéêíóôõúüªº',
  'àèéìíîòóùúªº',
  'áäéëèêíïóöôúü',
  'åäöéàüáèëï',
  'æøåéèêòóôöäü',
  'áðéíóúýþæö',
  'àçéèíïóòúü',
  'ąćęłńóśźż',
  'áäčďéěíĺľňóôŕřšťúůýž',
  'áéíóöőúüű',
  'ăâîșțşţ',
  'čćđšž',
  'çğıöşüâîûi̇',
  'ąčęėįšųūž',
  'āčēģīķļņšūž',
  'äõöüšž',
].map((letters) => new Set(letters));

const SCRIPTS = [
  /\p{sc=Latin}/u,
  /\p{sc=Cyrillic}/u,
  /\p{sc=Greek}/u,
  /\p{sc=Hebrew}/u,
  /\p{sc=Arabic}/u,
  /\p{sc=Thai}/u,
];

/**
 * Whether a line reads as if it were in another encoding: its words mix scripts or letters of different languages, have
 * capitals after lower-case letters, or have signs within them.
 */
function isOddLine(line: string): boolean {
  if (ODD_CHARACTERS.test(line)) return true;
  const words = line.match(/[\p{L}\p{M}]+/gu) ?? [];
  if (words.some((word) => SCRIPTS.filter((script) => script.test(word)).length > 1)) return true;
  const letters = new Set([...words.join('').toLowerCase()].filter((letter) => letter > '\x7f'));
  const latin = new Set([...letters].filter((letter) => /\p{sc=Latin}/u.test(letter)));
  const others = letters.size - latin.size;
  if (latin.size > 0 && others > 0) return true;
  if (others > 0) return isOddScript(words);
  return latin.size > 0 && !ALPHABETS.some((alphabet) => latin.isSubsetOf(alphabet));
}

const ODD_CHARACTERS = new RegExp(
  [
    // Characters that do not occur in texts: control characters, boxes, private use; and signs that are rare.
    String.raw`[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd\p{Co}\p{Cn}\u2500-\u259f\u2200-\u22ff\u2300-\u23ff\u25ca\ufb00-\ufb06¤¦¨¬¯´¸ˆ˜˘˙˚˝˛ˇƒ‡‰]`,
    // A capital after a lower-case letter.
    String.raw`\p{Ll}(?=\P{ASCII})\p{Lu}|\P{ASCII}(?<=\p{Ll})\p{Lu}`,
    // A sign within a word, or right after one where it would begin something.
    String.raw`\p{L}[^\p{ASCII}\p{L}\p{M}\p{N}’‘–—·\u00ad\u00a0…/]\p{L}`,
    String.raw`\p{L}[“„‚‘«¿¡£¥†•§¶]`,
    String.raw`[¿¡](?!\p{L}|["“«'])`,
    String.raw`[™®©ªº²³¹½¼¾»”]\p{L}`,
    String.raw`(?<!\p{N}|\p{L}|[\s"'(])[ªº°²³¹]`,
    // A single letter that no language has as a word.
    String.raw`(?<![\p{L}\p{M}\p{N}'’.&/-])(?=\P{ASCII})[\p{L}](?<![àèéêòóáåöíúæýыàвискоуяіїєйøΗηοέάΑÀÈÉÒÓÁÅÖÍÚÆВИСКОУЯ])(?![\p{L}\p{M}\p{N}'’.&/-])`,
  ].join('|'),
  'u',
);

/**
 * Whether words of another script have capitals after lower-case letters, or letters that its languages no longer use.
 */
const isOddScript = (words: readonly string[]): boolean =>
  words.some(
    (word) =>
      /\p{Ll}\p{Lu}/u.test(word) ||
      /[\u0400\u0402\u0403\u0405\u0408-\u040f\u0450\u0452-\u0453\u0455\u0458-\u045f\u0460-\u048f]/u.test(
        word,
      ),
  );
