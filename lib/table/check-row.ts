import type { Row, RowKey } from './table.ts';
import { TableError, type TableFailure } from './table-error.ts';

/**
 * The text of a row, as the adapters store it. Throws a `bad-row` TableError for what DynamoDB could not store: all
 * adapters check, so that none accepts what another would refuse.
 */
export function checkedText(tried: string, row: Row): string {
  const text = JSON.stringify(row);
  const sizeBytes = Buffer.byteLength(text);
  if (sizeBytes <= LIMIT_BYTES) return text;
  const failure = {
    kind: 'bad-row',
    expected: `at most ${LIMIT_BYTES} bytes`,
    got: String(sizeBytes),
  } as const;
  throw new TableError(tried, failure);
}

// The limits of AWS's page "Constraints in Amazon DynamoDB": keys of 2,048 and 1,024 bytes; 400 KB per item, less what
// the keys, the token and the expiry may take.
const LIMIT_BYTES = 400 * 1_024 - 4_096;

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
