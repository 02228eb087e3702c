import * as z from 'zod/mini';
import type { Meddling, Sent } from './people.ts';
import type { Plan } from './plan.ts';
import type { Scene } from './workers.ts';

/** A finished schedule; `broken` is called for every promise that was not kept. */
export type Ended = {
  readonly plan: Plan;
  readonly scene: Scene;
  readonly meddling: Meddling;
  readonly sent: Sent;
  readonly idOf: (number: number) => string;
  readonly nonsense: readonly string[];
  readonly finished: ReadonlyMap<string, ReadonlySet<string>>;
  readonly broken: (what: string) => void;
};

const resultSchema = z.object({
  status: z.enum(['done', 'failed', 'unknown']),
  attempts: z.number(),
  finishedAt: z.string(),
  error: z.optional(z.looseObject({ kind: z.string(), message: z.string() })),
  response: z.optional(z.unknown()),
});

export type Result = z.infer<typeof resultSchema>;

/** A result as users see it. */
export const readResult = async (key: string, { store }: Scene): Promise<Result> =>
  resultSchema.parse(JSON.parse(String((await store.get(key))?.body)));

/** True if no worker dies, pauses or loses a response of the table: then all counts are exact. */
export const hasSoundWorkers = ({ troubles }: Plan): boolean =>
  !troubles.some((each) => ['crash', 'pause', 'clock', 'table'].includes(each));
