/** The letters that languages have besides those of ASCII. The first is what English borrows of its neighbours. */
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
 * Whether a line reads as if it were in another encoding: its words mix scripts, letters of languages that do not go
 * together or capitals after small letters, or have signs within them.
 */
export function isOddLine(line: string): boolean {
  if (ODD.test(line)) return true;
  const words = line.match(/[\p{L}\p{M}]+/gu) ?? [];
  if (words.some((word) => SCRIPTS.filter((script) => script.test(word)).length > 1)) return true;
  const letters = new Set([...words.join('').toLowerCase()].filter((letter) => letter > '\x7f'));
  const latin = new Set([...letters].filter((letter) => /\p{sc=Latin}/u.test(letter)));
  const others = letters.size - latin.size;
  if (latin.size > 0 && others > 0) return true;
  if (others > 0) return isOddScript(words);
  return latin.size > 0 && !ALPHABETS.some((alphabet) => latin.isSubsetOf(alphabet));
}

const ODD = new RegExp(
  [
    // What texts do not have: control characters, boxes, private use; signs that are rare outside them.
    String.raw`[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd\p{Co}\p{Cn}\u2500-\u259f\u2200-\u22ff\u2300-\u23ff\u25ca\ufb00-\ufb06¤¦¨¬¯´¸ˆ˜˘˙˚˝˛ˇƒ‡‰]`,
    // A capital after a small letter.
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

/** Of other scripts: small letters first and capitals after them, or letters beyond what their languages use now. */
const isOddScript = (words: readonly string[]): boolean =>
  words.some(
    (word) =>
      /\p{Ll}\p{Lu}/u.test(word) ||
      /[\u0400\u0402\u0403\u0405\u0408-\u040f\u0450\u0452-\u0453\u0455\u0458-\u045f\u0460-\u048f]/u.test(
        word,
      ),
  );
