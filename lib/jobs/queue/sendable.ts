/**
 * The body of a message in characters that SQS accepts: #x9, #xA, #xD, #x20 to #xD7FF, #xE000 to #xFFFD and #x10000 to
 * #x10FFFF. It is JSON, in which the others can only occur within a string, so their escapes are the same value.
 * Source: SendMessage in the SQS API reference.
 */
export const sendable = (body: string): string =>
  body.replaceAll(REFUSED, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** How many bytes of UTF-8 the body takes once it is sent, which is what SQS limits. Each escape takes six. */
export function sentBytes(body: string): number {
  // Measured without the escapes: to insert millions of them takes seconds.
  const accepted = body.replaceAll(REFUSED, '');
  return Buffer.byteLength(accepted) + 6 * (body.length - accepted.length);
}

// With the flag `u`, a lone surrogate is a character of its own; a pair is the character that it stands for.
const REFUSED = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;
