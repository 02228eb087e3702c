import type { Platform } from '../../platform/client.ts';
import type { Session } from '../../session.ts';
import type { Store } from '../../store/store.ts';
import type { AllowLists } from '../allow-lists.ts';
import type { JobPlace } from '../job-place.ts';
import type { EndedJobRow } from '../ledger/job-row.ts';
import type { MessageChecks } from '../message/check-message.ts';
import type { JobBy } from '../message/read-job.ts';
import type { BatchPlace } from '../texts/batch/batch.ts';
import type { RunJob } from '../turn.ts';

/**
 * All that one type of jobs has of its own. Whatever handles messages and jobs is written once, for all types, and asks
 * the definition. `Message`: the message as it was checked; `Input`: as it is sent.
 */
export type JobTypeDefinition<
  Message extends { readonly type: string; readonly id?: string | undefined },
  Input = unknown,
> = {
  readonly checks: MessageChecks<Message, Input>;
  /** True if a send of the job whose end nobody knows may be made again: it does no harm, or the job says so. */
  readonly mayRepeat: (job: JobBy<Message>) => boolean;
  /** How long one send may last, in milliseconds; `timeoutMs`: one attempt of a call, by the settings. */
  readonly mustLastMs: (timeoutMs: number) => number;
  /** Why the lists of SYNC_ALLOW do not allow a job, or undefined if they do. That its type is allowed is known. */
  readonly allowFault: (job: JobBy<Message>, lists: AllowLists) => string | undefined;
  /**
   * Makes the runner. Its code is imported here and not before: who only checks messages does without. Throws where a
   * setting is wrong.
   */
  readonly openRunner: (parts: RunnerParts) => Promise<RunJob<JobBy<Message>>>;
  /** Settles what hangs on the job once its end is in the ledger. Called again whenever its message is seen again. */
  readonly afterEnd: (job: JobBy<Message>, ended: EndedJobRow, parts: EndParts) => Promise<void>;
  /** A message for the tour, with an id to wait for: its job must end well on the reference platform. */
  readonly sample: (records: SampleRecords) => Input & { readonly id: string };
};

/** What a runner may be made of. */
export type RunnerParts = {
  /** Its client has the patience of the settings. */
  readonly session: Session;
  readonly place: JobPlace;
  /** A client that hands a job back to the queue rather than wait long. */
  readonly platform: Platform;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** From 0 up to 1. */
  readonly random: () => number;
};

/** What an ended job is settled with. */
export type EndParts = { readonly store: Store; readonly batches: BatchPlace };

/** Records of the reference platform, which samples name. */
export type SampleRecords = {
  /** The package of code functions. */
  readonly packageId: string;
  readonly calculationId: string;
  /** A formula that the calculation may have. */
  readonly expression: string;
  readonly datasetIds: readonly string[];
  readonly filesetIds: readonly string[];
  readonly dataFileIds: readonly string[];
};
