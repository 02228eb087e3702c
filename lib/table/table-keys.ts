import { DescribeTableCommand, type DynamoDBClient, type TableDescription } from '@aws-sdk/client-dynamodb';
import { readAwsFault } from '../base/index.ts';

/** The keys that a table has, compared with those that rows need. `unchecked`: it could not be described. */
type TableKeys =
  | { readonly kind: 'right' }
  | { readonly kind: 'other'; readonly got: string }
  | { readonly kind: 'unchecked'; readonly code: string };

export type CheckKeys = () => Promise<TableKeys>;

/**
 * Checks the keys of a table by its description. Asks for it only when called, since normal work needs no right to
 * DescribeTable, and the roles of the stack have none; and only until the table has been described once. Never throws.
 */
export function checkKeysOnce(client: DynamoDBClient, tableName: string): CheckKeys {
  let checked: Promise<TableKeys> | undefined;
  return () => {
    checked ??= client.send(new DescribeTableCommand({ TableName: tableName })).then(
      ({ Table = {} }) => compareKeys(Table),
      (error: unknown) => {
        // A process may live for weeks: the next failure asks again.
        checked = undefined;
        return { kind: 'unchecked', code: readAwsFault(error).code };
      },
    );
    return checked;
  };
}

function compareKeys({ KeySchema = [], AttributeDefinitions = [] }: TableDescription): TableKeys {
  if (KeySchema.length === 0) return { kind: 'unchecked', code: 'no KeySchema' };
  const typeOf = (name: string | undefined) =>
    AttributeDefinitions.find(({ AttributeName }) => AttributeName === name)?.AttributeType;
  const keys = KeySchema.map(
    ({ AttributeName, KeyType }) => `${AttributeName} (${KeyType}, ${typeOf(AttributeName)})`,
  );
  const isRight = keys.length === KEYS.length && KEYS.every((key) => keys.includes(key));
  return isRight ? { kind: 'right' } : { kind: 'other', got: `one with the keys ${keys.join(' and ')}` };
}

const KEYS = ['pk (HASH, S)', 'sk (RANGE, S)'] as const;
