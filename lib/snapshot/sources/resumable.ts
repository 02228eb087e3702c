import type * as z from 'zod/mini';
import { faultsOf } from '../../base/index.ts';
import { checkedBy } from '../../base/json/index.ts';
import { StoredObjectError } from '../../store/index.ts';
import type { Scan } from '../scan.ts';

/** The same scan, for positions stored as JSON. Throws `StoredObjectError` if a position does not match the schema. */
export const resumable =
  <Position>(scan: Scan<Position>, schema: z.ZodMiniType<Position>): Scan<unknown> =>
  (start) =>
    scan({ ...start, from: start.from === undefined ? undefined : positionOf(start.from, schema) });

function positionOf<Position>(stored: unknown, schema: z.ZodMiniType<Position>): Position {
  const { data, error } = checkedBy(schema, stored);
  if (error === undefined) return data;
  const faults = faultsOf(error, stored).join('; ');
  throw new StoredObjectError('invalid', `the position of a checkpoint: ${faults}`);
}
