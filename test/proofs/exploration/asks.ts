import type { PutOptions, PutResult } from '../../../lib/store/store.ts';
import type { Row, StoredRow, Table, WriteResult } from '../../../lib/table/table.ts';

/** The claim under which a request is sent. */
export type Sender = { readonly id: string; readonly fence: number };

/** How the platform responded to a request, or that no response came. */
type PlatformReply =
  | { readonly kind: 'executed'; readonly execution: string }
  /** 429: certainly not executed. */
  | { readonly kind: 'throttled' }
  /** 400: read, and certainly not executed. */
  | { readonly kind: 'rejected' };

/**
 * Every request that the explored code makes of the outside world: its arguments (`gives`) and its reply (`gets`).
 * All of them are plain values, since a pending request is part of a state.
 */
export type Asks = {
  readonly 'read the row': { readonly gives: { readonly key: string }; readonly gets: StoredRow | null };
  readonly 'write the row': {
    readonly gives: Pick<Parameters<Table['put']>[2], 'expected' | 'token'> & {
      readonly key: string;
      readonly row: Row;
    };
    readonly gets: WriteResult;
  };
  readonly 'read an object': {
    readonly gives: { readonly key: string };
    readonly gets: { readonly body: string; readonly etag: string } | null;
  };
  readonly 'write an object': {
    readonly gives: Pick<PutOptions, 'condition'> & { readonly key: string; readonly body: string };
    readonly gets: PutResult;
  };
  readonly 'delete an object': { readonly gives: { readonly key: string }; readonly gets: null };
  readonly 'list objects': { readonly gives: { readonly prefix: string }; readonly gets: readonly string[] };
  readonly 'send a message': { readonly gives: { readonly body: string }; readonly gets: null };
  readonly 'delete the message': { readonly gives: { readonly receipt: string }; readonly gets: null };
  readonly 'delay the message': {
    readonly gives: { readonly receipt: string; readonly delayMs: number };
    readonly gets: null;
  };
  readonly 'call the platform': { readonly gives: Sender; readonly gets: PlatformReply };
  readonly 'take a slot': { readonly gives: Sender; readonly gets: { readonly isGranted: boolean } };
  readonly 'report the end': { readonly gives: { readonly status: string }; readonly gets: null };
  readonly sleep: { readonly gives: { readonly untilMs: number }; readonly gets: null };
};

export type AskKind = keyof Asks;

/** One request to the outside world. */
export type Ask<Kind extends AskKind = AskKind> = {
  readonly [Each in Kind]: { readonly kind: Each } & Asks[Each]['gives'];
}[Kind];

/** The reply to a request, or that no response came. */
export type Reply = { readonly got: Asks[AskKind]['gets'] } | 'no response';

/** Requests that change what others see. If the response is lost, it is unknown whether and when the change happens. */
export const CHANGES: ReadonlySet<AskKind> = new Set<AskKind>([
  'write the row',
  'write an object',
  'delete an object',
  'send a message',
  'delete the message',
  'delay the message',
  'call the platform',
  'report the end',
]);
