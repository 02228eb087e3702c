import { parseJson } from '../../json/json.ts';
import { MOST_MESSAGE_BYTES } from '../queue/queue.ts';

/** Lists and objects within one another: what walks a message later does so by recursion. */
const DEEPEST = 100;

export type MessageJson =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'fault'; readonly fault: string };

const fault = (text: string): MessageJson => ({ kind: 'fault', fault: `message: ${text}` });

/** The value of a message's text. A fault never shows the text: it may hold one to score. */
export function readMessageJson(text: string): MessageJson {
  const bytes = Buffer.byteLength(text);
  if (bytes > MOST_MESSAGE_BYTES)
    return fault(`expected at most ${MOST_MESSAGE_BYTES} bytes of UTF-8, got ${bytes}`);
  if (isDeeperThan(text, DEEPEST))
    return fault(`expected at most ${DEEPEST} lists and objects within one another, got more`);
  try {
    return { kind: 'json', value: parseJson(text) };
  } catch (error) {
    // V8 puts a piece of the text into its message; of that only the place is told.
    const [place] = /at position \d+( \(line \d+ column \d+\))?/.exec(String(error)) ?? [];
    return fault(
      `expected JSON, got ${text.length} characters that are none${place ? `, wrong ${place}` : ''}`,
    );
  }
}

/** Whether lists and objects lie deeper within one another; what stands in quotes counts for nothing. */
function isDeeperThan(text: string, most: number): boolean {
  let depth = 0;
  for (const [piece] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"?|[[{\]}]/gs)) {
    if (piece === '[' || piece === '{') depth += 1;
    if (piece === ']' || piece === '}') depth -= 1;
    if (depth > most) return true;
  }
  return false;
}
