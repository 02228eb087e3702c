import type { judgeFormula } from '../../formula/index.ts';
import type { Platform, Sentiment } from '../../platform/index.ts';
import type { Session } from '../../session.ts';
import type { Store } from '../../store/index.ts';
import type { AllowLists } from '../allow-lists.ts';
import type { JobStorage } from '../job-storage.ts';
import type { EndedJobRow, JobRow } from '../ledger/job-row.ts';
import type { JobFrom, MessageChecks } from '../message/check-message.ts';
import type { JobClock, RunJob } from '../send-context.ts';
import type { BatchStorage } from '../texts/batch/batch.ts';

/**
 * Everything that is specific to one job type. `Message`: the message after it has been checked. `Input`: the message
 * as sent.
 */
export type JobTypeDefinition<
  Message extends { readonly type: string; readonly id?: string | undefined },
  Input = unknown,
> = MessageChecks<Message, Input> & {
  /** Whether a send with an unknown outcome may be repeated, because it does no harm or the job permits it. */
  readonly mayRepeat: (job: JobFrom<Message>) => boolean;
  /**
   * Whether a job is claimed before its work begins, because the work before its first request takes long. Default: the
   * first send claims it.
   */
  readonly isClaimedFirst?: boolean;
  /**
   * Whether a job sends many requests. Such a job can be cancelled between two requests, and does not block short jobs.
   */
  readonly sendsMany?: boolean;
  /** Whether a job belongs to a batch, so that calls of jobs outside batches leave first. */
  readonly isBulk?: (job: JobFrom<Message>) => boolean;
  /** Timeout of one platform request, in milliseconds. Default: the configured one. */
  readonly timeoutMs?: number | undefined;
  /** Why the lists of SYNC_ALLOW do not allow a job; undefined if they do. The job's type was already checked. */
  readonly allowFault?: (job: JobFrom<Message>, lists: AllowLists) => string | undefined;
  /**
   * The faults and warnings of a job with a valid message that can be found without the platform. A job with a fault is
   * refused. The parser of formulas is passed in, since it is large and a deployed worker never needs it.
   */
  readonly judgeHere?: (
    job: JobFrom<Message>,
    parts: { readonly judgeFormula: typeof judgeFormula },
  ) => { readonly faults: readonly string[]; readonly warnings: readonly string[] };
  /** The calculation whose formula a job replaces. Default: jobs replace no formula. */
  readonly replacesFormulaOf?: (job: JobFrom<Message>) => string;
  /** The maximum calls that a job makes if no call is repeated; undefined if that is not known beforehand. */
  readonly maxCalls: (job: JobFrom<Message>) => number | undefined;
  /** Creates the runner. Imports its code only now. Throws if a setting is invalid. */
  readonly openRunner: (parts: RunnerParts) => Promise<RunJob<JobFrom<Message>>>;
  /** Called after the job's end was stored in the ledger, and again whenever its message is received again. */
  readonly afterEnd?: (job: JobFrom<Message>, ended: EndedJobRow, parts: EndParts) => Promise<void>;
  /** Called before a failed job is reopened, and again if the process dies in between. */
  readonly beforeReopen?: (job: JobFrom<Message>, parts: EndParts) => Promise<void>;
  /** Why a failed job must not be reopened, not even by its id; undefined if it may be. */
  readonly reopenFault?: (
    job: JobFrom<Message>,
    row: JobRow,
    parts: Pick<EndParts, 'store'>,
  ) => Promise<string | undefined>;
  /** A message for the tour, with the id that the tour waits for. Its job must succeed on the reference platform. */
  readonly sample: (records: {
    readonly packageId: string;
    readonly calculationId: string;
    readonly expression: string;
    readonly datasetIds: readonly string[];
    readonly filesetIds: readonly string[];
    readonly dataFileIds: readonly string[];
  }) => Input & { readonly id: string };
};

/** What the runners of all job types are built from. */
export type RunnerParts = JobClock & {
  /** The session. Its client waits for its turn as long as the settings allow. */
  readonly session: Session;
  readonly storage: JobStorage;
  /** A client that throws if its turn is far off, so that the job is requeued. */
  readonly platform: Platform;
  readonly onSentiment?: ((response: Sentiment) => void) | undefined;
};

type EndParts = { readonly store: Store; readonly batches: BatchStorage };
