import * as z from 'zod/mini';
import { readAhead } from '../../base/index.ts';
import { PlatformError, type PlatformFailure } from '../../platform/index.ts';
import { emptyBatch, type RecordBatch } from '../page/record-fields.ts';
import type { GateName, MissingId, Scan } from '../scan.ts';

/** Where a fan-out resumes. Ids that were read ahead are not included, so they are read again. */
export const fanOutPosition = z.object({
  /** The index of the next id. */
  next: z.number(),
  records: z.number(),
  /** The number of missing ids before `next`. */
  missing: z.number(),
});

/** See `fanOutPosition`. */
export type FanOutPosition = z.infer<typeof fanOutPosition>;

/** The number of ids to read ahead: enough to use the whole rate if a response takes a second. */
const CONCURRENCY = 8;

/**
 * Reads ids one by one, with one step for each, in the order of the ids. An id that the platform refuses is
 * recorded as missing (`afterFailure`); any other error ends the scan.
 */
export function fanOut(options: {
  /** The ids without duplicates, in the order in which their records are written. */
  readonly ids: readonly string[];
  readonly read: (id: string, signal: AbortSignal) => Promise<RecordBatch>;
  /** The number of records if it follows from the number of ids; otherwise null. */
  readonly total: number | null;
}): Scan<FanOutPosition> {
  const { ids, read, total } = options;
  return async function* ({ from = START, signal }) {
    let position = from;
    let lastRead: string | undefined;
    const ahead = readAhead({
      items: ids.slice(from.next),
      async read(
        id,
        stop,
      ): Promise<{
        readonly batch: RecordBatch;
        readonly missing: readonly MissingId[];
        /** The error, if the id is missing. */
        readonly error?: unknown;
      }> {
        const outcome = await tryRead({
          ids,
          id,
          lastRead,
          read: (each) => read(each, stop),
          drop: (batch) => batch.release?.(),
        });
        if (outcome.kind === 'read') {
          lastRead = id;
          return { batch: outcome.result, missing: [] };
        }
        return { batch: emptyBatch, missing: [outcome.missing], error: outcome.error };
      },
      concurrency: CONCURRENCY,
      sizeOf: ({ batch }) => batch.heldBytes,
      signal,
    });
    for await (const { error, ...one } of ahead) {
      position = {
        next: position.next + 1,
        records: position.records + one.batch.records,
        missing: position.missing + one.missing.length,
      };
      refuseBadRequests(position.missing, ids.length, error);
      yield { ...one, position, total, share: position.next / ids.length };
    }
    return {
      consistency: 'proved',
      assumes: ['current-responses'],
      totals: { start: null, end: null },
      order: 'ids',
      refused: refusedForMissing(position.missing, ids.length),
    };
  };
}

const START: FanOutPosition = { next: 0, records: 0, missing: 0 };

const tryRead = (options: ReadOfId<RecordBatch>): Promise<ReadOutcome<RecordBatch>> =>
  options.read(options.id).then(
    (result) => ({ kind: 'read', result }),
    (error: unknown) => afterFailure(error, options),
  );

const failureOf = (error: unknown): PlatformFailure | undefined =>
  error instanceof PlatformError ? error.failure : undefined;

const statusOf = (error: unknown): number | undefined => {
  const failure = failureOf(error);
  return failure?.kind === 'status' ? failure.status : undefined;
};

/** Whether the platform responded with 400 or 422, for example because it does not support a requested order. */
export const isBadRequest = (error: unknown): boolean => [400, 422].includes(statusOf(error) ?? 0);

/** Whether the platform kept failing, after all retries. */
export const isServerError = (error: unknown): boolean => {
  const status = statusOf(error) ?? 0;
  // The body of a 200 response may be an error.
  return status === 200 || status >= 500;
};

/** Statuses that may concern a single id: bad request, forbidden, not found, conflict, gone. */
const STATUSES_OF_ONE_ID: ReadonlySet<number> = new Set([400, 403, 404, 409, 410]);

/** The status with which the platform refused this id; undefined for any other failure. */
function refusedStatus(error: unknown): number | undefined {
  const failure = failureOf(error);
  // A list without an end also concerns only this id.
  if (failure?.kind === 'endless') return 200;
  return failure?.kind === 'status' && STATUSES_OF_ONE_ID.has(failure.status) ? failure.status : undefined;
}

/**
 * Statuses that concern all ids: the token is refused, the method is not allowed, the proxy needs credentials,
 * throttling.
 */
const STATUSES_OF_ALL_IDS: ReadonlySet<number> = new Set([401, 405, 407, 429]);

/** The status of a failure that may concern only one id (0: no complete response); undefined for other failures. */
function failedStatus(error: unknown): number | undefined {
  const failure = failureOf(error);
  switch (failure?.kind) {
    case 'status':
      return STATUSES_OF_ALL_IDS.has(failure.status) ? undefined : failure.status;
    case 'redirect':
    case 'not-json':
      return failure.status;
    case 'shape':
    case 'too-large':
      return 200;
    case 'cut':
      return 0;
    case 'timeout':
    case 'connection':
      return failure.phase === 'exchange' ? 0 : undefined;
    default:
      return undefined;
  }
}

/**
 * The gates that the run fails because of missing ids. A run may lack some ids; if all are missing, the token lacks
 * permissions or the address is wrong.
 */
export const refusedForMissing = (missing: number, requested: number): readonly GateName[] =>
  missing > 0 && missing === requested ? ['incomplete'] : [];

/**
 * Throws the error of the last id if all ids are missing and it is a bad request, since its message says more than the
 * gate.
 */
export function refuseBadRequests(missing: number, requested: number, error: unknown): void {
  if (missing === requested && isBadRequest(error)) throw error;
}

/** The number of other ids to try. If none of them can be read, the platform is unavailable. */
const MAX_WITNESSES = 3;

type ReadOfId<Result> = {
  readonly id: string;
  readonly read: (id: string) => Promise<Result>;
  /** All ids of the run. Reading another one shows whether the platform responds at all. */
  readonly ids: readonly string[];
  /** An id that was read successfully before. If set, it is the only other id to try. */
  readonly lastRead?: string | undefined;
  /** Called with the result of another id, which is not used. */
  readonly drop?: (result: Result) => void;
};

/** The result of reading an id, or the error because of which it is missing. */
type ReadOutcome<Result> =
  | { readonly kind: 'read'; readonly result: Result }
  | { readonly kind: 'missing'; readonly missing: MissingId; readonly error: unknown };

/**
 * Decides what a failed read of an id means. The id is missing if the platform refuses it (400, 403, 404, 409, 410), or
 * if it fails again after another id could be read. Any other error is thrown, since other ids would fail too.
 */
export async function afterFailure<Result>(
  error: unknown,
  options: ReadOfId<Result>,
): Promise<ReadOutcome<Result>> {
  const { id, read } = options;
  const refused = refusedStatus(error);
  if (refused !== undefined) return { kind: 'missing', missing: { id, status: refused }, error };
  if (failedStatus(error) === undefined || !(await respondsForAnother(options))) throw error;
  try {
    // The platform responds. It may have been unavailable before, so try this id again.
    return { kind: 'read', result: await read(id) };
  } catch (again) {
    const status = refusedStatus(again) ?? failedStatus(again);
    if (status === undefined) throw again;
    return { kind: 'missing', missing: { id, status }, error: again };
  }
}

/** Whether the platform responds for another id, even to refuse it. */
async function respondsForAnother<Result>(options: ReadOfId<Result>): Promise<boolean> {
  for (const other of witnessesOf(options)) {
    try {
      const result = await options.read(other);
      options.drop?.(result);
      return true;
    } catch (error) {
      if (refusedStatus(error) !== undefined) return true;
      if (failedStatus(error) === undefined) throw error;
    }
  }
  return false;
}

/** The ids to test the platform with: the id that was read last, or a few ids next to this one. */
function witnessesOf({ id, ids, lastRead }: Omit<ReadOfId<unknown>, 'read' | 'drop'>): readonly string[] {
  if (lastRead !== undefined) return [lastRead];
  const at = ids.indexOf(id);
  const before = ids.slice(Math.max(0, at - MAX_WITNESSES), Math.max(0, at));
  return [...ids.slice(at + 1, at + 1 + MAX_WITNESSES), ...before].slice(0, MAX_WITNESSES);
}
