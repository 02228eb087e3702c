/** Editors end a file with a line break that is not part of the formula. */
export const withoutFinalLineEnd = (text: string): string =>
  text.replace(/^\uFEFF/, '').replace(/\r?\n$/, '');
