import { isMembers, listOf, type Members, membersOf, withMembers } from '../aws-request.ts';
import { createNowAndThen } from '../now-and-then.ts';
import { succeeded, toJson } from '../reply.ts';
import type { Rule } from '../rule.ts';

/** How many batches there are to one that is not processed in full. */
const BATCHES_PER_FAILURE = 8;

/** The last request of a batch is now and then left to the client. */
export const unprocessed = {
  service: 'dynamodb',
  kind: 'weak',
  says: 'A batch of reads or writes may return some of them as UnprocessedKeys or UnprocessedItems, to be sent again.',
  page: 'https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchWriteItem.html',
  create: ({ random }) => {
    const isHit = createNowAndThen(random, BATCHES_PER_FAILURE);
    return async (request, next) => {
      const { RequestItems } = membersOf(request);
      const isBatch = request.operation === 'BatchWriteItem' || request.operation === 'BatchGetItem';
      if (!isBatch || !isMembers(RequestItems)) return next(request);
      const [table, list] = Object.entries(RequestItems)[0] ?? [];
      const parts = split(list);
      if (table === undefined || parts === undefined || !isHit()) return next(request);
      const reply = await next(
        withMembers(request, { RequestItems: { ...RequestItems, [table]: parts.first } }),
      );
      const name = request.operation === 'BatchWriteItem' ? 'UnprocessedItems' : 'UnprocessedKeys';
      const done = succeeded(reply);
      return done === undefined ? reply : toJson({ ...done, [name]: { [table]: parts.rest } });
    };
  },
} as const satisfies Rule;

/** Writes are a list, reads are a list in `Keys`. Undefined if there are fewer than two. */
function split(list: unknown): { readonly first: unknown; readonly rest: unknown } | undefined {
  if (isMembers(list)) {
    const keys = split(list['Keys']);
    return keys && { first: withKeys(list, keys.first), rest: withKeys(list, keys.rest) };
  }
  const all = listOf(list);
  return all.length < 2 ? undefined : { first: all.slice(0, -1), rest: all.slice(-1) };
}

const withKeys = (list: Members, Keys: unknown): Members => ({ ...list, Keys });
