/**
 * A text of the platform in readable form. Control characters become Unicode's pictures of them, so that none
 * is invisible. Direction overrides become their numbers, so that `gpj.exe` is not shown backwards. The
 * element around the text isolates other changes of direction.
 */
export const readable = (text: string): string =>
  text.replaceAll(/[\p{Cc}\u202d\u202e]/gu, (character) => {
    const code = character.charCodeAt(0);
    if (code > 0xff) return `[U+${code.toString(16).toUpperCase()}]`;
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? '\u2421' : '\ufffd';
  });

/** Cuts a text at `most` characters and adds an ellipsis. No character is cut in two. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const characters = [...text.slice(0, 2 * most + 2)];
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
}
