import { Stack } from 'aws-cdk-lib';
import { CfnGlobalTable, CfnTable, type ITable, type ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type { IKey } from 'aws-cdk-lib/aws-kms';

/** The encryption key of a table. `Table` and `TableV2` both have this property, but their common type does not. */
export const keyOf = (table: ITable): IKey | undefined => (table as Partial<ITableV2>).encryptionKey;

/** The faults of a table that the same app creates. A table that is given by name is checked by `doctor`. */
export function tableFaults(table: ITable): readonly string[] {
  const { defaultChild } = table.node;
  if (!(defaultChild instanceof CfnTable || defaultChild instanceof CfnGlobalTable)) return [];
  const { keySchema, attributeDefinitions } = Stack.of(defaultChild).resolve({
    keySchema: defaultChild.keySchema,
    attributeDefinitions: defaultChild.attributeDefinitions,
  });
  const keys = keySchema.map(({ attributeName, keyType }: CfnTable.KeySchemaProperty) => {
    const type = attributeDefinitions.find(
      (each: CfnTable.AttributeDefinitionProperty) => each.attributeName === attributeName,
    )?.attributeType;
    return `${attributeName} (${keyType}, ${type})`;
  });
  const got = keys.join(' and ');
  return got === TABLE_KEYS ? [] : [`table: expected the keys ${TABLE_KEYS}, got ${got}`];
}

const TABLE_KEYS = 'pk (HASH, S) and sk (RANGE, S)';
