import * as z from 'zod/mini';

/** A number of things. */
export const count = z.number().check(z.int(), z.minimum(0));
/** ISO 8601, in UTC. */
export const moment = z.string().check(z.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/));
/** An id is text, however large a number it is. */
export const id = z.string();
export const text = z.string();
export const orNull = <T extends z.ZodMiniType>(schema: T) => z.nullable(schema);
/** Objects by names that are not ours. */
export const byName = <T extends z.ZodMiniType>(schema: T) => z.catchall(z.object({}), schema);
