import { endOfString } from './json.ts';

/** Words for numbers that JSON does not have, as several languages print them. */
const NO_NUMBER = /-?\b(?:NaN|Infinity)\b/g;
const CONTROL = /\p{Cc}/gu;

/**
 * JSON as careless programs print it, made valid: NaN and infinities become null, control characters in strings are
 * escaped, and NULs behind the value are dropped. Undefined if the text has none of these.
 */
export function repairJson(text: string): string | undefined {
  const pieces: string[] = [];
  const whole = text.replace(/\0+\s*$/, '');
  for (let at = 0; at < whole.length; ) {
    const quote = whole.indexOf('"', at);
    const start = quote < 0 ? whole.length : quote;
    const end = quote < 0 ? whole.length : endOfString(whole, quote) + 1;
    pieces.push(whole.slice(at, start).replaceAll(NO_NUMBER, 'null'));
    pieces.push(whole.slice(start, end).replaceAll(CONTROL, escaped));
    at = end;
  }
  const repaired = pieces.join('');
  return repaired === text ? undefined : repaired;
}

const escaped = (control: string): string => JSON.stringify(control).slice(1, -1);

/** JSON in UTF-8 without its invalid bytes, repaired; undefined if there is nothing to repair. */
export function repairBytes(bytes: Buffer): Buffer<ArrayBuffer> | undefined {
  const text = bytes.toString('utf8');
  const repaired = repairJson(text) ?? (text.includes('\ufffd') ? text : undefined);
  return repaired === undefined ? undefined : Buffer.from(repaired);
}
