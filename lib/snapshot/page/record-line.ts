import { printJson } from '../../json/json.ts';
import { PlatformError } from '../../platform/platform-error.ts';
import type { ScannedRecord } from './scanned-record.ts';

/** A record of an answer: where it comes from, what it is, and how it was sent. */
export type SentRecord = {
  readonly key: string;
  readonly value: object;
  /** Its JSON as it came; undefined prints it anew. */
  readonly source: string | undefined;
  /** A member that goes before all others, for a record that alone does not say whose it is. */
  readonly first?: { readonly name: string; readonly text: string } | undefined;
};

/** The record with its one line: as it was sent, byte for byte, unless it holds a raw line end. */
export function scannedRecord({ key, value, source, first }: SentRecord): ScannedRecord {
  // A line must be one line: white space between the tokens may hold line ends, texts cannot.
  const line = source === undefined || /[\r\n]/.test(source) ? printJson(value) : source;
  if (first === undefined) return { key, value, line };
  return { key, value: { [first.name]: first.text, ...value }, line: withFirst(line, first) };
}

/** `line`, a JSON object, with one more member before all others. */
function withFirst(line: string, { name, text }: { readonly name: string; readonly text: string }): string {
  const rest = line.slice(1);
  const comma = rest.trimStart().startsWith('}') ? '' : ',';
  return `{${JSON.stringify(name)}:${JSON.stringify(text)}${comma}${rest}`;
}

/** The members of whatever came; none where it is no object. */
export function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

/** The error for an answer that lacks what the contract requires; `fault` names the record and the field. */
export function shapeError(operation: string, about: string, fault: string): PlatformError {
  return new PlatformError({ kind: 'shape', faults: [fault] }, { operation, about, attempts: 1 });
}
