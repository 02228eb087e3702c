/** A word as a POSIX shell reads it back: in quotes if it needs them. */
export const quoted = (word: string): string =>
  /^[\w./:,=@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
