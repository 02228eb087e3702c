import type { Row, RowKey } from './table.ts';
import { TableError } from './table-error.ts';

// The limits of AWS's page "Constraints in Amazon DynamoDB": 400 KB per item, less what the keys, the token and the
// expiry may take. All adapters check, so that none accepts what another would refuse.
const LIMIT_BYTES = 400 * 1_024 - 4_096;
const KEY_BYTES = { partition: 2_048, sort: 1_024 } as const satisfies Record<keyof RowKey, number>;

/** The text of a row, as the adapters store it. Throws a `bad-row` TableError for what DynamoDB could not store. */
export function checkedText(tried: string, row: Row): string {
  const text = JSON.stringify(row);
  const got = Buffer.byteLength(text);
  if (got <= LIMIT_BYTES) return text;
  throw new TableError(tried, {
    kind: 'bad-row',
    expected: `at most ${LIMIT_BYTES} bytes`,
    got: String(got),
  });
}

export function checkKey(tried: string, key: RowKey): void {
  for (const part of ['partition', 'sort'] as const) {
    const text = key[part];
    const most = KEY_BYTES[part];
    const sizeBytes = Buffer.byteLength(text);
    if (sizeBytes >= 1 && sizeBytes <= most && text.isWellFormed()) continue;
    const expected = `a ${part} of 1 to ${most} bytes of well-formed text`;
    throw new TableError(tried, { kind: 'bad-key', expected, got: `${sizeBytes} bytes` });
  }
}
