import { type AwsRequest, isMembers, type Members, membersOf, parseMembers } from '../aws-request.ts';
import { type Reply, succeeded, toJson } from '../reply.ts';
import type { Ask, Rule } from '../rule.ts';
import { createTurns } from '../turns.ts';

/** dynalite ignores `ReturnValuesOnConditionCheckFailure`, so the rule reads the item, before any other write can change it. */
export const oldItemOnFailure = {
  service: 'dynamodb',
  kind: 'strict',
  says: 'With ReturnValuesOnConditionCheckFailure ALL_OLD, the error of a failed condition has the item as it is.',
  page: 'https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_PutItem.html',
  create: ({ ask }) => {
    const inTurn = createTurns();
    return async (request, next) => {
      const { TableName, Item, Key, ReturnValuesOnConditionCheckFailure: wanted } = membersOf(request);
      if (!/^(Put|Update|Delete)Item$/.test(request.operation)) return next(request);
      return inTurn(String(TableName), async () => {
        const reply = await next(request);
        if (wanted !== 'ALL_OLD' || !isConditionFailed(reply)) return reply;
        const read = { TableName, Key: Key ?? keyIn(Item), ConsistentRead: true };
        return withItem(reply, await readItem(ask, getItem(request, read)));
      });
    };
  },
} as const satisfies Rule;

/** The key of an item: every table here has these two. */
const keyIn = (item: unknown) => (isMembers(item) ? { pk: item['pk'], sk: item['sk'] } : undefined);

/** A read with the signature of the request. */
const getItem = (request: AwsRequest, members: Members): AwsRequest => ({
  ...request,
  operation: 'GetItem',
  headers: { ...request.headers, 'x-amz-target': 'DynamoDB_20120810.GetItem' },
  body: Buffer.from(JSON.stringify(members)),
});

const isConditionFailed = ({ status, body }: Reply): boolean =>
  status === 400 && String(parseMembers(body)['__type']).endsWith('#ConditionalCheckFailedException');

const readItem = async (ask: Ask, request: AwsRequest): Promise<unknown> =>
  succeeded(await ask(request))?.['Item'];

function withItem(reply: Reply, item: unknown): Reply {
  if (item === undefined) return reply;
  return toJson({ ...parseMembers(reply.body), Item: item }, { status: reply.status });
}
