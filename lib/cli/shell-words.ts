/** A word as a shell takes it back: in quotes where it needs them. */
export const quoted = (word: string): string =>
  /^[\w./:,=@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
