import { AwsError } from '../aws/aws-error.ts';
import { PlatformError } from '../platform/platform-error.ts';
import { SettingsError } from '../settings.ts';
import { SnapshotStoppedError } from '../snapshot/run/snapshot-stopped-error.ts';
import { StoreError } from '../store/error.ts';
import { StoredObjectError } from '../store/stored-json.ts';
import { TableError } from '../table/table-error.ts';
import { SentOnceError } from './sent-once.ts';

/** An error of a command as `--json` prints it: `{error: …}`. `message` is what people read; all else is for machines. */
export type ErrorJson = {
  /** Whose error it is: the command line's, the settings', the platform's, a service's, or our own. */
  readonly kind:
    | 'usage'
    | 'settings'
    | 'interrupted'
    | 'platform'
    | 'store'
    | 'object'
    | 'table'
    | 'aws'
    | 'other';
  readonly message: string;
  /** What went wrong, by the kind that `lib` gives it, such as `timeout`, `status`, `unreachable`. */
  readonly failure?: string;
  /** Of the platform's response. */
  readonly status?: number;
  /** The platform's own reference of its error. */
  readonly reference?: string;
  /** Whether the request may have taken effect: of a call that is never sent twice. */
  readonly mayHaveTakenEffect?: boolean;
  /** Every fault of the settings. */
  readonly faults?: readonly string[];
  /** The run that can be resumed. */
  readonly run?: string;
};

/** What machines may want to know of an error, besides its message. */
export function factsOf(error: unknown): Partial<ErrorJson> {
  if (error instanceof SentOnceError)
    return { ...factsOf(error.cause), mayHaveTakenEffect: error.mayHaveTakenEffect };
  if (error instanceof SnapshotStoppedError) return { ...factsOf(error.cause), run: error.run };
  if (error instanceof SettingsError) return { kind: 'settings', faults: error.faults };
  if (error instanceof StoredObjectError) return { kind: 'object', failure: error.kind };
  if (error instanceof StoreError) return { kind: 'store', failure: error.failure.kind };
  if (error instanceof TableError) return { kind: 'table', failure: error.failure.kind };
  if (error instanceof AwsError) return { kind: 'aws', failure: error.failure.kind };
  return error instanceof PlatformError ? factsOfPlatform(error) : {};
}

function factsOfPlatform({ failure }: PlatformError): Partial<ErrorJson> {
  if (failure.kind === 'input') return { kind: 'usage', failure: failure.kind };
  const { kind } = failure;
  const status = 'status' in failure ? { status: failure.status } : {};
  const reference = 'reference' in failure ? { reference: failure.reference } : {};
  return { kind: 'platform', failure: kind, ...status, ...reference };
}
