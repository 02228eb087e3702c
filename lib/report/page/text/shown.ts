/**
 * A text of the platform as people can read it: each control character as the picture that Unicode has for it, so that
 * none is invisible, and what turns the letters after it around by its number, so that `gpj.exe` is not read backwards.
 * Other directions are isolated by the element it stands in.
 */
export const readable = (text: string): string =>
  text.replaceAll(/[\p{Cc}\u202d\u202e]/gu, (character) => {
    const code = character.charCodeAt(0);
    if (code > 0xff) return `[U+${code.toString(16).toUpperCase()}]`;
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? '\u2421' : '\ufffd';
  });

/** At most `most` characters, the last of which is an ellipsis if there are more. No character is cut in two. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const characters = [...text.slice(0, 2 * most + 2)];
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
}
