import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import type { Row, RowKey, StoredRow } from './table.ts';

type Item = Record<string, AttributeValue>;

/** A row as DynamoDB stores it; `expires` is in epoch seconds, as its TTL requires. */
export const toItem = (key: RowKey, row: Row, token: string, expiresAtMs: number | undefined): Item =>
  marshall(
    {
      ...row,
      ...toItemKey(key),
      token,
      expires: expiresAtMs === undefined ? undefined : Math.ceil(expiresAtMs / 1_000),
    },
    { removeUndefinedValues: true, allowImpreciseNumbers: true, convertClassInstanceToMap: true },
  );

export const toItemKey = ({ partition, sort }: RowKey) => ({ pk: partition, sk: sort });

/** Undefined for an item that was not written as a row: it has no token. */
export function fromItem(item: Item): ({ readonly key: RowKey } & StoredRow) | undefined {
  const { pk, sk, token, expires: _, ...row } = unmarshall(item, { wrapNumbers: Number });
  return typeof token === 'string' ? { key: { partition: pk, sort: sk }, row, token } : undefined;
}
