import { printJson } from '../../json/json.ts';
import { PlatformError } from '../../platform/platform-error.ts';
import type { ScannedRecord } from './scanned-record.ts';

/** A record of a response: its key, its value, and the text that was sent. */
export type SentRecord = {
  readonly key: string;
  readonly value: object;
  /** Its JSON as received; if undefined, the value is printed. */
  readonly source: string | undefined;
  /** A member to put before all others, for a record that does not itself name its owner. */
  readonly first?: { readonly name: string; readonly text: string } | undefined;
};

/** The record with its line: byte for byte as sent, except that a raw line end becomes a space. */
export function scannedRecord({ key, value, source, first }: SentRecord): ScannedRecord {
  // White space between the tokens may contain line ends; strings cannot.
  const line = source?.replaceAll(/[\r\n]/g, ' ') ?? printJson(value);
  if (first === undefined) return { key, value, line };
  return { key, value: { [first.name]: first.text, ...value }, line: withFirst(line, first) };
}

/** `line`, a JSON object, with one more member at its start. */
function withFirst(line: string, { name, text }: { readonly name: string; readonly text: string }): string {
  const rest = line.slice(1);
  const comma = rest.trimStart().startsWith('}') ? '' : ',';
  return `{${JSON.stringify(name)}:${JSON.stringify(text)}${comma}${rest}`;
}

/** The members of any value; none if it is not an object. */
export function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

/** The error for a response that lacks what the contract requires; `fault` names the record and the field. */
export function shapeError(operation: string, about: string, fault: string): PlatformError {
  return new PlatformError({ kind: 'shape', faults: [fault] }, { operation, about, attempts: 1 });
}
