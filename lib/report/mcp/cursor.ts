import * as z from 'zod/mini';
import { parseJson } from '../../json/json.ts';
import { ToolError } from './tool.ts';

/** A position as an opaque text. */
export const cursorOf = (position: object): string =>
  Buffer.from(JSON.stringify(position)).toString('base64url');

/** The position that a cursor stands for. Throws `ToolError` for a text that no call returned. */
export function readCursor<T>(cursor: string, schema: z.ZodMiniType<T>): T {
  try {
    return schema.parse(parseJson(Buffer.from(cursor, 'base64url').toString()));
  } catch (cause) {
    throw new ToolError(
      'cursor: expected the nextCursor of an earlier result of this tool, got something else',
      {
        cause,
      },
    );
  }
}

/** A cursor among a tool's arguments. */
export const cursorInput = z.optional(
  z
    .string({ error: 'the nextCursor of an earlier result' })
    .check(z.maxLength(2_000, { error: 'the nextCursor of an earlier result' }))
    .check(
      z.describe('nextCursor of the result before, to get what follows it; the other arguments unchanged'),
    ),
);

/** How many items came before. */
export const offsetSchema = z.strictObject({ at: z.number().check(z.int(), z.gte(0)) });

/** How many items are wanted at most. */
export const limitInput = (most: number, usual: number) =>
  z._default(
    z
      .number({ error: `a whole number from 1 to ${most}` })
      .check(
        z.refine((value) => Number.isInteger(value) && value >= 1 && value <= most, {
          error: `a whole number from 1 to ${most}`,
        }),
      )
      .check(z.describe(`At most so many, 1 to ${most}`)),
    usual,
  );

/** What every list ends with. */
export const listEnd = {
  isCut: z.boolean().check(z.describe('true if there is more than this result holds')),
  nextCursor: z.optional(z.string().check(z.describe('the cursor of the call that continues'))),
};
