import { isDeeperThan, JsonLimitError, parseJson } from '../../base/index.ts';
import { MOST_MESSAGE_BYTES } from '../queue/queue.ts';
import { sentBytes } from '../queue/sendable.ts';

/** How deeply lists and objects may be nested: later steps walk a message by recursion. */
const DEEPEST = 100;

export type MessageJson =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'fault'; readonly fault: string };

const fault = (text: string): MessageJson => ({ kind: 'fault', fault: `message: ${text}` });

/** The value of a message's JSON text. A fault never quotes it: it may contain a text to score. */
export function readMessageJson(text: string): MessageJson {
  const bytes = sentBytes(text);
  if (bytes > MOST_MESSAGE_BYTES)
    return fault(`expected at most ${MOST_MESSAGE_BYTES} bytes of UTF-8, got ${bytes}`);
  if (isDeeperThan(text, DEEPEST))
    return fault(`expected at most ${DEEPEST} levels of nested lists and objects, got more`);
  try {
    return { kind: 'json', value: parseJson(text) };
  } catch (error) {
    if (error instanceof JsonLimitError) return fault(error.message);
    // V8 quotes a piece of the text in its message; only the position is taken from that.
    const [position] = /at position \d+( \(line \d+ column \d+\))?/.exec(String(error)) ?? [];
    return fault(
      `expected JSON, got ${text.length} characters that are not JSON${position ? `, invalid ${position}` : ''}`,
    );
  }
}
