import { AwsError } from '../../base/index.ts';
import { PlatformError } from '../../platform/index.ts';
import { SettingsError } from '../../settings.ts';
import { SnapshotStoppedError } from '../../snapshot/run/snapshot-stopped-error.ts';
import { StoredObjectError, StoreError } from '../../store/index.ts';
import { TableError } from '../../table/index.ts';
import { QueryError } from '../../tables/duckdb/query-error.ts';
import { TextError } from '../../text/index.ts';
import { SentOnceError } from './sent-once.ts';
import { UsageError } from './usage-error.ts';

/** An error of a command as `--json` prints it: `{error: …}`. `message` is what people read; all else is for machines. */
export type ErrorJson = {
  /** Whose error it is. */
  readonly kind:
    | ('usage' | 'settings' | 'interrupted' | 'file' | 'other')
    | ('platform' | 'store' | 'object' | 'table' | 'aws' | 'query');
  readonly message: string;
  /** What can be done about it, where the message does not say it. */
  readonly advice?: string;
  /** What went wrong, by the kind that `lib` gives it, such as `timeout`, `status`, `unreachable`. */
  readonly failure?: string;
  /** Of the platform's response, with its own reference of its error. */
  readonly status?: number;
  readonly reference?: string;
  /** Whether the request may have taken effect: of a call that is never sent twice. */
  readonly mayHaveTakenEffect?: boolean;
  /** Every fault of the settings. */
  readonly faults?: readonly string[];
  /** The run that can be resumed. */
  readonly run?: string;
};

/** What machines may want to know of an error, besides its message: of what caused it, where it says nothing itself. */
export function factsOf(error: unknown): Partial<ErrorJson> {
  for (const each of causesOf(error)) {
    const facts = ownFactsOf(each);
    if (facts !== undefined) return facts;
  }
  return {};
}

/** An error, and what caused it, one after the other: of several causes the first. */
export function* causesOf(error: unknown): Generator<Error> {
  const causes = new Set<unknown>();
  for (let each = error; each instanceof Error && !causes.has(each); each = causeOf(each)) {
    causes.add(each);
    yield each;
  }
}

const causeOf = (error: Error): unknown => (error instanceof AggregateError ? error.errors[0] : error.cause);

function ownFactsOf(error: Error): Partial<ErrorJson> | undefined {
  if (error instanceof SentOnceError)
    return { ...factsOf(error.cause), mayHaveTakenEffect: error.mayHaveTakenEffect };
  if (error instanceof SnapshotStoppedError) return { ...factsOf(error.cause), run: error.run };
  if (error instanceof SettingsError) return { kind: 'settings', faults: error.faults };
  if (error instanceof UsageError) return { kind: 'usage' };
  if (error instanceof StoredObjectError) return { kind: 'object', failure: error.kind };
  if (error instanceof PlatformError) return factsOfPlatform(error);
  const kind = BOUNDARIES.find(([of]) => error instanceof of)?.[1];
  const { failure } = error as Error & { readonly failure?: { readonly kind: string } };
  return kind === undefined ? undefined : { kind, failure: failure?.kind ?? 'other' };
}

/** The errors of what a command works with; each says by the kind of its `failure` what went wrong. */
const BOUNDARIES = [
  [StoreError, 'store'],
  [TableError, 'table'],
  [AwsError, 'aws'],
  [QueryError, 'query'],
  [TextError, 'file'],
] as const;

function factsOfPlatform({ failure }: PlatformError): Partial<ErrorJson> {
  return {
    kind: failure.kind === 'input' ? 'usage' : 'platform',
    failure: failure.kind,
    ...('status' in failure ? { status: failure.status } : {}),
    ...('reference' in failure ? { reference: failure.reference } : {}),
  };
}
