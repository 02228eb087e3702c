import type * as z from 'zod/mini';
import type { RecordsIn } from './records.ts';

type Part = Readonly<Record<string, unknown>>;

/** What a caller passes to an endpoint: the values for its path, its query and its body. */
export type EndpointInput = {
  readonly path?: Part | undefined;
  readonly query?: Part | undefined;
  readonly body?: Part | undefined;
};

/** One operation of the platform as data: all that transport, retry and sandbox need. */
export type Endpoint<Input extends EndpointInput = EndpointInput, Output = unknown> = {
  readonly name: string;
  readonly summary: string;
  readonly method: 'GET' | 'POST';
  /** What some platforms take it by instead, and refuse `method` with 405, which proves that nothing was done. */
  readonly otherMethod?: 'PUT';
  /** With `{name}` for each value of `input.path`. */
  readonly path: `/api/${string}`;
  /** Checks the input before anything is sent; its output is what is sent. */
  readonly input: z.ZodMiniType<Input, unknown>;
  /** What the answer to this input must have, and nothing else: the rest is kept as it came. */
  readonly output: (input: Input) => z.ZodMiniType<Output, unknown>;
  /** The records of an answer, or the members of one that is itself a record. */
  readonly records: RecordsIn | Pick<RecordsIn, 'members'>;
  /** A body that is an answer although it is not JSON: one without a byte, or any but a page. Default: none is. */
  readonly otherBody?: 'empty' | 'any';
  /** True if doing it twice does no harm: a read, or a call whose only cost is its price. */
  readonly mayRepeat: boolean;
  /** True if what is sent is private, such as a text to score: no error quotes a response, which may quote the text. */
  readonly isPrivate?: true;
  /** Which record a response is about, for errors about its shape: `calculation 12`. */
  readonly about: (input: Input) => string;
  /** Its own time limit for one attempt, in milliseconds. Default: the limit in the settings. */
  readonly timeoutMs?: number;
};
