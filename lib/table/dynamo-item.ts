import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { parseOwnJson } from '../base/index.ts';
import type { Row, RowKey, StoredRow } from './table.ts';

type Item = Record<string, AttributeValue>;

/** A row as DynamoDB stores it, its members as one text; `expires` is in epoch seconds, as its TTL requires. */
export const toItem = (key: RowKey, text: string, token: string, expiresAtMs: number | undefined): Item => ({
  ...toItemKey(key),
  row: { S: text },
  token: { S: token },
  ...(expiresAtMs === undefined ? {} : { expires: { N: String(Math.ceil(expiresAtMs / 1_000)) } }),
});

export const toItemKey = ({ partition, sort }: RowKey): Item => ({ pk: { S: partition }, sk: { S: sort } });

/** Undefined for an item that was not written as a row: it has no token. */
export function fromItem({ pk, sk, row, token }: Item): ({ readonly key: RowKey } & StoredRow) | undefined {
  if (token?.S === undefined || row?.S === undefined) return undefined;
  const key = { partition: pk?.S ?? '', sort: sk?.S ?? '' };
  return { key, row: parseOwnJson(row.S) as Row, token: token.S };
}
