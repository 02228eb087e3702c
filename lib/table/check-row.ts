import type { Row, RowKey } from './table.ts';
import { TableError } from './table-error.ts';

// The limits from AWS's page "Constraints in Amazon DynamoDB": 400 KB for an item, minus the space for keys, token
// and expiry. All adapters check them, so that no adapter accepts a row that another would refuse.
const MAX_ROW_BYTES = 400 * 1_024 - 4_096;
const MAX_KEY_BYTES = { partition: 2_048, sort: 1_024 } as const satisfies Record<keyof RowKey, number>;

/**
 * Checks a row, and returns it as the string of JSON that the adapters store. Throws a `bad-row` TableError if
 * DynamoDB could not store it.
 */
export function checkedText(tried: string, row: Row): string {
  const text = JSON.stringify(row);
  const got = Buffer.byteLength(text);
  if (got <= MAX_ROW_BYTES) return text;
  throw new TableError(tried, {
    kind: 'bad-row',
    expected: `at most ${MAX_ROW_BYTES} bytes`,
    got: String(got),
  });
}

/** Throws a `bad-key` TableError if DynamoDB would not accept the key. */
export function checkKey(tried: string, key: RowKey): void {
  for (const part of ['partition', 'sort'] as const) {
    const text = key[part];
    const max = MAX_KEY_BYTES[part];
    const sizeBytes = Buffer.byteLength(text);
    if (sizeBytes >= 1 && sizeBytes <= max && text.isWellFormed()) continue;
    const expected = `a ${part} of 1 to ${max} bytes of well-formed text`;
    throw new TableError(tried, { kind: 'bad-key', expected, got: `${sizeBytes} bytes` });
  }
}
