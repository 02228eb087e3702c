import { type AwsRequest, isMembers, listOf, type Members, membersOf } from '../aws-request.ts';
import { type Reply, refuse } from '../reply.ts';
import type { Rule } from '../rule.ts';
import { keySchemas } from './key-schemas.ts';

const MOST_NAME_BYTES = 65_535;
const PAGE = 'https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html';

/** dynalite takes attribute names of any length. */
export const attributeNames = {
  service: 'dynamodb',
  kind: 'strict',
  says: 'The name of an attribute has 1 byte to 64 KB (at most 65,535 bytes) of UTF-8, at any depth.',
  page: PAGE,
  create: () => async (request, next) =>
    itemsOf(request).some(hasLongName)
      ? invalid(
          `One or more parameter values were invalid: Attribute name is too large, must be less than ${MOST_NAME_BYTES + 1} bytes`,
        )
      : next(request),
} as const satisfies Rule;

const invalid = (message: string): Reply =>
  refuse('dynamodb', { status: 400, code: 'ValidationException', message });

/** The item that a request puts. */
function itemsOf(request: AwsRequest): readonly Members[] {
  const { Item } = membersOf(request);
  return request.operation === 'PutItem' && isMembers(Item) ? [Item] : [];
}

/** Attribute values are `{ TYPE: value }`; those of type M and L have others inside. */
function hasLongName(attributes: Members): boolean {
  return Object.entries(attributes).some(
    ([name, value]) =>
      Buffer.byteLength(name) > MOST_NAME_BYTES || (isMembers(value) && hasLongNameInside(value)),
  );
}

const hasLongNameInside = ({ M, L }: Members): boolean =>
  (isMembers(M) && hasLongName(M)) || listOf(L).some(hasLongNameInside);

const MOST_PARTITION_BYTES = 2_048;
const MOST_SORT_BYTES = 1_024;

/** dynalite takes keys of any length. */
export const keySizes = {
  service: 'dynamodb',
  kind: 'strict',
  says: 'A partition key has at most 2,048 bytes and a sort key at most 1,024.',
  page: PAGE,
  create: ({ ask }) => {
    const schemaOf = keySchemas(ask);
    return async (request, next) => {
      const { Key, TableName } = membersOf(request);
      const items = [...itemsOf(request), ...(isMembers(Key) ? [Key] : [])];
      if (items.length === 0 || typeof TableName !== 'string') return next(request);
      const schema = await schemaOf(request, TableName);
      const isOver = (name: string | undefined, most: number) =>
        name !== undefined && items.some((item) => sizeOf(item[name]) > most);
      if (isOver(schema?.partition, MOST_PARTITION_BYTES))
        return invalid(
          `One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of${MOST_PARTITION_BYTES} bytes`,
        );
      return isOver(schema?.sort, MOST_SORT_BYTES)
        ? invalid(
            `One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of ${MOST_SORT_BYTES} bytes`,
          )
        : next(request);
    };
  },
} as const satisfies Rule;

/** Numbers are much smaller than any limit. */
const sizeOf = (value: unknown): number =>
  isMembers(value) ? Buffer.byteLength(String(value['S'] ?? ''), 'utf8') : 0;
