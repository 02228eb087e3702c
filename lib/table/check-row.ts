import type { Json, Row, RowKey } from './table.ts';
import { TableError, type TableFailure } from './table-error.ts';

/** Attributes that the adapters store beside a row's members. */
const reservedNames = ['pk', 'sk', 'token', 'expires'] as const;

/**
 * Throws a `bad-key` or `bad-row` TableError for anything that DynamoDB could not store, or not return unchanged. Both
 * adapters check, so that the one in memory accepts nothing that DynamoDB would refuse.
 */
export function checkRow(tried: string, key: RowKey, row: Row): void {
  checkKey(tried, key);
  const fault = reservedFault(row) ?? jsonFault(row, 1) ?? sizeFault(row);
  if (fault) throw new TableError(tried, { kind: 'bad-row', ...fault });
}

export function checkKey(tried: string, { partition, sort }: RowKey): void {
  checkKeyPart(tried, 'partition', partition, 2_048);
  checkKeyPart(tried, 'sort', sort, 1_024);
}

function checkKeyPart(tried: string, part: keyof RowKey, text: string, limitBytes: number): void {
  const sizeBytes = Buffer.byteLength(text);
  if (sizeBytes >= 1 && sizeBytes <= limitBytes && text.isWellFormed()) return;
  const expected = `a ${part} of 1 to ${limitBytes} bytes of well-formed text`;
  const failure: TableFailure = { kind: 'bad-key', expected, got: `${sizeBytes} bytes` };
  throw new TableError(tried, failure);
}

type Fault = { readonly expected: string; readonly got: string };

function reservedFault(row: Row): Fault | undefined {
  const taken = reservedNames.find((name) => row[name] !== undefined);
  return taken && { expected: `no member ${reservedNames.join(', ')}`, got: taken };
}

// The limits of AWS's page "Constraints in Amazon DynamoDB": keys of 2,048 and 1,024 bytes; attribute names of 1 byte to
// 64 KB (65,535 bytes are accepted, 65,536 are refused; the names of our keys, limited to 255, are always pk and sk); 32
// levels; numbers up to 9.99e125 and down to 1e-130; 400 KB per item, for names and values together. Names and texts
// count in bytes of UTF-8.
const NAME_LIMIT_BYTES = 65_535;
const DEEPEST = 32;
const GREATEST = 9.99e125;
const LEAST = 1e-130;

function jsonFault(value: Json | undefined, depth: number): Fault | undefined {
  if (typeof value === 'string') return textFault(value);
  if (typeof value === 'number') return numberFault(value);
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth > DEEPEST) return { expected: `at most ${DEEPEST} levels`, got: 'more' };
  for (const [name, member] of Object.entries(value)) {
    const fault = nameFault(name) ?? jsonFault(member, depth + 1);
    if (fault) return fault;
  }
  return undefined;
}

// The SDK's conversion reads a value's `constructor`, and sets `__proto__` instead of storing it.
const unstorableNames: readonly string[] = ['', '__proto__', 'constructor'];

function nameFault(name: string): Fault | undefined {
  if (unstorableNames.includes(name))
    return {
      expected: `no member named ${unstorableNames.map((each) => `"${each}"`).join(', ')}`,
      got: `"${name}"`,
    };
  const nameBytes = Buffer.byteLength(name);
  return nameBytes > NAME_LIMIT_BYTES
    ? { expected: `names of at most ${NAME_LIMIT_BYTES} bytes`, got: `${nameBytes} bytes` }
    : textFault(name);
}

const textFault = (text: string): Fault | undefined =>
  text.isWellFormed() ? undefined : { expected: 'well-formed text', got: 'a lone surrogate' };

function numberFault(value: number): Fault | undefined {
  const size = Math.abs(value);
  return size === 0 || (size >= LEAST && size <= GREATEST)
    ? undefined
    : { expected: `numbers from ${LEAST} to ${GREATEST}, or 0`, got: String(value) };
}

// 400 KB per item, less what the keys, the token and the expiry may take.
const LIMIT_BYTES = 400 * 1_024 - 4_096;

function sizeFault(row: Row): Fault | undefined {
  const got = sizeBytes(row);
  return got > LIMIT_BYTES ? { expected: `at most ${LIMIT_BYTES} bytes`, got: String(got) } : undefined;
}

/** At least what DynamoDB counts: 3 bytes per list or map, 1 per member, up to 21 per number. */
function sizeBytes(value: Json | undefined): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value === 'number') return 21;
  if (typeof value !== 'object' || value === null) return 1;
  return Object.entries(value).reduce(
    (sum, [name, member]) => sum + 1 + Buffer.byteLength(name) + sizeBytes(member),
    3,
  );
}
