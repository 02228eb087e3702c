/**
 * Makes a string of the platform readable. Control characters become Unicode's pictures of them, so that none is
 * invisible. Direction overrides become their code points, so that `gpj.exe` is not shown backwards. Other changes of
 * direction are isolated by the element around the string.
 */
export const readable = (text: string): string =>
  text.replaceAll(/[\p{Cc}\u202d\u202e]/gu, (character) => {
    const code = character.charCodeAt(0);
    if (code > 0xff) return `[U+${code.toString(16).toUpperCase()}]`;
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? '\u2421' : '\ufffd';
  });

/** Shortens a string to `max` characters, the last of which is an ellipsis. No character is cut in two. */
export function shortened(text: string, max: number): string {
  if (text.length <= max) return text;
  const characters = [...text.slice(0, 2 * max + 2)];
  return characters.length <= max ? text : `${characters.slice(0, max - 1).join('')}…`;
}
