import { type JsonBytes, skipName, skipText } from '../../snapshot/page/json-bytes.ts';

/** What reading a line has found so far. */
export type Reading = {
  json: JsonBytes;
  /** Becomes false when something does not fit. */
  fits: boolean;
  /**
   * False at first: names are read as if none came twice. If one does, `repeats` becomes true, what was written is wrong,
   * and the line has to be read again with care.
   */
  isCareful: boolean;
  repeats: boolean;
  /** Behind the colon of the name that was read last. */
  behindName: number;
};

/** Reads a member's name; undefined for one that UTF-8 cannot express. Its value is at `behindName`. */
export function readName(reading: Reading, at: number): string | undefined {
  const { json } = reading;
  reading.behindName = skipName(json, at);
  const text = json.bytes.toString('utf8', at, skipText(json, at));
  const name = text.includes('\\') ? (JSON.parse(text) as string) : text.slice(1, -1);
  return name.isWellFormed() ? name : undefined;
}
