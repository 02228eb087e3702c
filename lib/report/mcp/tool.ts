import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import { faultsOf, pastMoment } from '../../base/index.ts';
import type { Ledger } from '../../jobs/index.ts';
import type { Store } from '../../store/index.ts';
import type { Tables } from '../../tables/index.ts';
import { bytesOf, type ToolResult, withShortTexts } from './answer.ts';

/** The context of one call. */
export type ToolCall = McpContext & {
  /** Aborted when the client cancels the call or disconnects, or after `MAX_SECONDS`. */
  readonly signal: AbortSignal;
  /** Shows the client what the call is doing. */
  readonly say: (words: string) => void;
};

/** Thrown if a tool cannot do what was requested. The message says why, and what to do instead. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}

/**
 * How many seconds a call may take: of a tool that reads, of a tool that sends, and of any tool if the client wants no
 * progress reports (`silent`).
 */
export const MAX_SECONDS = { reads: 20, sends: 60, silent: 10 } as const;

/** Annotations of a tool that only reads the store and sends no request to the platform. */
export const READS = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** A tool of the server. */
export type Tool = {
  readonly title: string;
  /** What the tool does and returns, for the assistant. */
  readonly description: string;
  /** What a call may do, as the protocol's hints. */
  readonly annotations: typeof READS;
  readonly inputSchema: () => Record<string, unknown>;
  /** What to do instead if a call took too long, for the message. Default: ask for less. */
  readonly instead?: string;
  /** Checks the arguments, and runs the tool. Throws `ToolError`, or the errors of the store. */
  readonly call: (args: unknown, call: ToolCall) => Promise<ToolResult>;
};

type ToolParts = Pick<Tool, 'title' | 'description' | 'instead'> & Partial<Pick<Tool, 'annotations'>>;

type Running<I extends z.ZodMiniType> = {
  readonly input: I;
  readonly run: (args: z.output<I>, call: ToolCall) => Promise<ToolResult>;
};

/** Creates a tool from the schema of its arguments and the function that runs it. */
export function defineTool<I extends z.ZodMiniType>({ input, run, ...tool }: ToolParts & Running<I>): Tool {
  return {
    annotations: READS,
    ...tool,
    inputSchema() {
      const { $schema: _, ...schema } = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' });
      return schema;
    },
    async call(args, call) {
      const checked = input.safeParse(args ?? {});
      if (!checked.success) throw wrongArguments(checked.error, args);
      return await run(checked.data, call);
    },
  };
}

const MAX_FAULTS = 20;

function wrongArguments(error: z.core.$ZodError, args: unknown): ToolError {
  const faults = faultsOf(error, args, { max: MAX_FAULTS });
  return new ToolError(
    `wrong arguments:\n${faults.map((fault) => fault.replace(/^: /, 'arguments: ')).join('\n')}`,
  );
}

/**
 * The parts of a tool that returns a list. `at`: the number of items on earlier pages; `max`: how many items to find at
 * most, from the start of the list: the items on earlier pages, the items on this page, and one more.
 */
type ListParts<Input extends z.core.$ZodShape> = ToolParts & {
  readonly input: Input;
  /** The name of the list in `data`. */
  readonly list: string;
  readonly run: (
    args: z.output<z.ZodMiniObject<Input>>,
    page: { readonly at: number; readonly max: number },
    call: ToolCall,
  ) => Promise<
    Pick<ToolResult, 'head' | 'isCut'> & {
      /** The items that follow the items on earlier pages. */
      readonly items: readonly unknown[];
      /** Other members of `data`. */
      readonly data?: object;
      /** Identifies the list, for example by its runs. A cursor is valid only for the same list. */
      readonly listId?: string;
    }
  >;
};

/** Maximum characters of each string in an item, and the maximum if the item is then still above `LARGE_BYTES`. */
const MAX_TEXTS_LENGTH = [1_000, 40] as const;
const LARGE_BYTES = 30_000;

const limitInput = z._default(wholeInput(1, 100), 20);

const cursorInput = described(
  z.optional(textInput('the nextCursor of an earlier result', 2_000)),
  'the nextCursor of the previous result',
);

/** Creates a tool that returns a list, page by page. */
export const defineList = <const Input extends z.core.$ZodShape>({
  input,
  list,
  run,
  ...tool
}: ListParts<Input>) =>
  defineTool({
    ...tool,
    input: z.strictObject({ ...input, limit: limitInput, cursor: cursorInput }),
    async run(parsed, call) {
      const { limit, cursor, ...args } = parsed as { readonly limit: number; readonly cursor?: string };
      const at = cursor === undefined ? 0 : Number(/^(\d{1,15})-/.exec(cursor)?.[1]);
      const found = at >= 0 ? await run(args as never, { at, max: at + limit + 1 }, call) : undefined;
      const cursorTo = (next: number) => `${next}-${hash('sha256', found?.listId ?? '').slice(0, 16)}`;
      if (found === undefined || (cursor !== undefined && cursor !== cursorTo(at)))
        throw new ToolError(
          'cursor: expected the nextCursor of an earlier result of this tool for the same runs, got a different value. Call again without it',
        );
      const { items, data, ...rest } = found;
      return {
        ...rest,
        data: { [list]: items.slice(0, limit).map(shownItem), ...data },
        cursorAfter: (shown) => (shown < items.length ? cursorTo(at + shown) : undefined),
      };
    },
  });

function shownItem(item: unknown): unknown {
  const [usual, short] = MAX_TEXTS_LENGTH.map((max) => withShortTexts(item, max));
  return bytesOf(usual) < LARGE_BYTES ? usual : short;
}

/** A string argument of at most `maxLength` characters; `expected` describes it in words. */
export function textInput(expected: string, maxLength: number) {
  return z.string({ error: expected }).check(z.maxLength(maxLength, { error: expected }));
}

/** A whole-number argument. */
export function wholeInput(min: number, max = Number.MAX_SAFE_INTEGER) {
  const isOpen = max === Number.MAX_SAFE_INTEGER;
  const error = `a whole number ${isOpen ? `of at least ${min}` : `from ${min} to ${max}`}`;
  return z.number({ error }).check(z.int({ error }), z.gte(min, { error }), z.lte(max, { error }));
}

/** An argument that is one of these names. */
export const oneOf = <const Name extends string>(names: readonly Name[]) =>
  z.enum(names, { error: `one of ${names.join(', ')}` });

/** The argument `at` of tools that can show an earlier state. */
export const atInput = described(z.optional(pastMoment), 'a day: as of its end (UTC)');

/** Adds a description to a schema, which the client shows to the assistant. */
export function described<S extends z.ZodMiniType>(schema: S, description: string): S {
  return schema.check(z.describe(description)) as S;
}

/**
 * The error for an empty store or source. `what` begins the message, such as `nothing`; `source`: the source to take.
 */
export const nothingPublished = ({ location }: Store, what: string, source = 'calculations') =>
  new ToolError(
    `${what} has been published in ${location}: check SYNC_STORE, or take a snapshot with platform-sync snapshot ${source}`,
  );

/** What the tools work with. Nothing in it sends a request to the platform. */
export type McpContext = {
  /** Opens the configured store. Throws if it cannot be opened. */
  readonly store: () => Promise<Store>;
  /**
   * Opens SQL over the store, or over the store as it was at a moment, in epoch milliseconds. Throws
   * `PeerMissingError`.
   */
  readonly tables: (atMs?: number) => Promise<Tables>;
  /** Opens the ledger; undefined if no table is configured. */
  readonly ledger: () => Promise<Pick<Ledger, 'list' | 'read'> | undefined>;
  /** Puts jobs on the queue. Default: the server only reads. */
  readonly submission?: Submission | undefined;
  /** What the user can do about an error, if its message does not say so. */
  readonly adviceOn: (error: unknown) => string | undefined;
  /** Removes the tokens and passwords of the settings from a message. */
  readonly hide: (text: string) => string;
  /** The clock, in epoch milliseconds. */
  readonly now: () => number;
};

/** Puts jobs on the queue. */
export type Submission = {
  /**
   * Parses jobs, one a line. Returns the jobs with their ids, or all faults. Throws if nothing can be sent, for example
   * because no queue is configured.
   */
  readonly check: (lines: string) => Promise<readonly CheckedJob[] | { readonly faults: readonly string[] }>;
  /** Sends jobs. `error` is undefined if all jobs are certainly on the queue. */
  readonly send: (
    jobs: readonly CheckedJob[],
    signal: AbortSignal,
  ) => Promise<{
    readonly ids: readonly string[];
    readonly notSent: readonly string[];
    readonly error: unknown;
  }>;
  /** The rate in requests a second that the pace allows now; undefined if no platform is configured. */
  readonly rate: () => Promise<{ readonly rate: number; readonly isPaused: boolean } | undefined>;
};

type CheckedJob = { readonly id: string; readonly text: string };
