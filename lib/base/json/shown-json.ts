/** JSON that may hold somebody else's text, safe to show: what could move the cursor or reverse the text is escaped. */
export const shownJson = (json: string): string =>
  // JSON always escapes the lower controls. These occur only in strings, so the value stays the same.
  json.replaceAll(
    /[\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
