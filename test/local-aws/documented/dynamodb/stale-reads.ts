import { type AwsRequest, isMembers, listOf, type Members, membersOf, withMembers } from '../aws-request.ts';
import { type Reply, succeeded, toJson } from '../reply.ts';
import type { Ask, Rule, World } from '../rule.ts';
import { type KeySchema, keyIn, keySchemas, otherRequest } from './key-schemas.ts';

/** Reads are consistent so long after a write; AWS says "usually within one second". */
const LONGEST_MS = 1_000;

/** Half of all reads that need not be consistent return items as they were before the last write. */
export const staleReads = {
  service: 'dynamodb',
  kind: 'weak',
  says: 'Unless ConsistentRead is true, GetItem, Query and Scan may not reflect the results of a recent write.',
  page: 'https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.ReadConsistency.html',
  create: (world) => {
    const schemaOf = keySchemas(world.ask);
    const past = createPast(world);
    return async (request, next) => {
      const { TableName, ConsistentRead } = membersOf(request);
      const isWrite = /^(Put|Update|Delete)Item$/.test(request.operation);
      const isRead = READS.has(request.operation) && ConsistentRead !== true;
      if ((!isWrite && !isRead) || typeof TableName !== 'string') return next(request);
      const schema = await schemaOf(request, TableName);
      if (schema === undefined) return next(request);
      const table = { TableName, schema };
      if (isWrite) return past.write(request, { ...table, next });
      const reply = await next(request);
      return world.random.chance(0.5) ? past.show(reply, { ...table, request }) : reply;
    };
  },
} as const satisfies Rule;

const READS: ReadonlySet<string> = new Set(['GetItem', 'Query', 'Scan']);

type TableOf = { readonly TableName: string; readonly schema: KeySchema };

/** What the items that were written last were before. */
function createPast({ now, ask }: World) {
  const before = new Map<string, { readonly atMs: number; readonly item: unknown }>();
  const nameOf = ({ TableName, schema }: TableOf, item: Members) =>
    `${TableName} ${JSON.stringify(keyIn(item, schema))}`;
  const oldOf = (table: TableOf, item: Members) => {
    const old = before.get(nameOf(table, item));
    return old !== undefined && now() - old.atMs < LONGEST_MS ? old : undefined;
  };
  return {
    async write(request: AwsRequest, { next, ...table }: TableOf & { readonly next: Ask }): Promise<Reply> {
      const { Item, Key } = membersOf(request);
      const written = Key ?? Item;
      const old = await askForOld(request, { next, ask, table, written });
      if (isMembers(written) && old.reply.status === 200) {
        // Re-inserted, so that the oldest come first.
        before.delete(nameOf(table, written));
        before.set(nameOf(table, written), { atMs: now(), item: old.item });
      }
      for (const [name, { atMs }] of before) {
        if (now() - atMs < LONGEST_MS) break;
        before.delete(name);
      }
      return old.reply;
    },
    show(reply: Reply, { request, ...table }: TableOf & { readonly request: AwsRequest }): Reply {
      const read = succeeded(reply);
      if (read === undefined) return reply;
      const { Key } = membersOf(request);
      if (request.operation === 'GetItem') {
        const old = isMembers(Key) ? oldOf(table, Key) : undefined;
        const { Item: _, ...others } = read;
        return old === undefined ? reply : toJson({ ...others, ...(old.item ? { Item: old.item } : {}) });
      }
      const Items = listOf(read['Items']).flatMap((item) => {
        const old = oldOf(table, item);
        return old === undefined ? [item] : listOf([old.item]);
      });
      return toJson({ ...read, Items, Count: Items.length });
    },
  };
}

type Write = {
  readonly next: Ask;
  readonly ask: Ask;
  readonly table: TableOf;
  readonly written: unknown;
};

/** Makes the write, and returns the item that it replaced: by ALL_OLD where the client asks for nothing else. */
async function askForOld(request: AwsRequest, { next, ask, table, written }: Write) {
  const { ReturnValues } = membersOf(request);
  if (ReturnValues === undefined || ReturnValues === 'NONE' || ReturnValues === 'ALL_OLD') {
    const reply = await next(withMembers(request, { ReturnValues: 'ALL_OLD' }));
    const { Attributes: item, ...others } = succeeded(reply) ?? {};
    const isWanted = ReturnValues === 'ALL_OLD' || reply.status !== 200;
    return { reply: isWanted ? reply : toJson(others), item };
  }
  const Key = isMembers(written) ? keyIn(written, table.schema) : undefined;
  const read = { TableName: table.TableName, Key, ConsistentRead: true };
  const { Item: item } = succeeded(await ask(otherRequest(request, 'GetItem', read))) ?? {};
  return { reply: await next(request), item };
}
