import {
  DeleteTableCommand,
  DynamoDBClient,
  PutItemCommand,
  paginateScan,
  type ScanCommandOutput,
} from '@aws-sdk/client-dynamodb';
import { createTables } from '../../local-aws/services/start-dynamo-db.ts';
import type { StandIn } from './run-aws.ts';

type Item = NonNullable<ScanCommandOutput['Items']>[number];

/**
 * Backups as in DynamoDB, which dynalite lacks. When a table with point-in-time recovery is deleted, AWS stores a
 * system backup named after it, from which a new table of any unused name can be created. A restored table has no time
 * to live, no point-in-time recovery and no deletion protection. Source: "Restoring a table from a backup" and
 * "Point-in-time recovery", DynamoDB Developer Guide.
 */
export function createTableBackups(environment: Readonly<Record<string, string>>) {
  const { AWS_ENDPOINT_URL: endpoint = '', AWS_REGION: region = '', ...keys } = environment;
  const client = new DynamoDBClient({
    endpoint,
    region,
    credentials: {
      accessKeyId: keys['AWS_ACCESS_KEY_ID'] ?? '',
      secretAccessKey: keys['AWS_SECRET_ACCESS_KEY'] ?? '',
    },
  });
  const backups = new Map<string, { readonly name: string; readonly items: readonly Item[] }>();
  /** The features that are on for each restored table. */
  const turnedOn: Record<string, unknown[]> = {};

  async function itemsOf(TableName: string): Promise<readonly Item[]> {
    const items: Item[] = [];
    for await (const { Items = [] } of paginateScan({ client }, { TableName })) items.push(...Items);
    return items;
  }

  async function restore(table: string, items: readonly Item[]): Promise<object> {
    await createTables(endpoint, [table]);
    for (const Item of items) await client.send(new PutItemCommand({ TableName: table, Item }));
    turnedOn[table] = [];
    return { TableDescription: { TableName: table, TableStatus: 'CREATING' } };
  }

  const run: StandIn = async (operation, input) => {
    const text = (name: string) => String(input[name]);
    const on = (what: unknown) => {
      turnedOn[text('TableName')]?.push(what);
      return {};
    };
    switch (operation) {
      case 'list-backups':
        return {
          BackupSummaries: [...backups].map(([BackupArn, { name }]) => ({ BackupArn, BackupName: name })),
        };
      case 'restore-table-from-backup': {
        const backup = backups.get(text('BackupArn'));
        if (backup === undefined) throw new Error(`expected a backup, got ${text('BackupArn')}`);
        return restore(text('TargetTableName'), backup.items);
      }
      case 'restore-table-to-point-in-time':
        return restore(text('TargetTableName'), await itemsOf(text('SourceTableName')));
      case 'update-time-to-live':
        return on(input['TimeToLiveSpecification']);
      case 'update-continuous-backups':
        return on(input['PointInTimeRecoverySpecification']);
      case 'update-table':
        return on({ DeletionProtectionEnabled: input['DeletionProtectionEnabled'] });
      default:
        return undefined;
    }
  };

  return {
    run,
    turnedOn,
    /** Deletes the table, and stores a backup as AWS does. */
    async delete(TableName: string): Promise<void> {
      const items = await itemsOf(TableName);
      backups.set(`arn:aws:dynamodb:${region}:000000000000:table/${TableName}/backup/1`, {
        name: `${TableName}$DeletedTableBackup`,
        items,
      });
      await client.send(new DeleteTableCommand({ TableName }));
    },
    [Symbol.dispose]: () => client.destroy(),
  };
}
