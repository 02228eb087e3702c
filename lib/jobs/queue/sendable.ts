/**
 * The body of a message in characters that SQS accepts: #x9, #xA, #xD, #x20 to #xD7FF, #xE000 to #xFFFD and #x10000 to
 * #x10FFFF. It is JSON, in which the others can only occur within a string, so their escapes are the same value.
 * Source: SendMessage in the SQS API reference.
 */
export const sendable = (body: string): string =>
  body.replaceAll(REFUSED, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

// With the flag `u`, a lone surrogate is a character of its own; a pair is the character that it stands for.
const REFUSED = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;
