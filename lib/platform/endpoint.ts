import * as z from 'zod/mini';
import { wellFormed } from '../base/index.ts';
import type { RecordsIn } from './records.ts';

type Part = Readonly<Record<string, unknown>>;

/** A caller's values for an endpoint's path, query and body. */
export type EndpointInput = {
  readonly path?: Part | undefined;
  readonly query?: Part | undefined;
  readonly body?: Part | undefined;
};

/** One operation of the platform as data: everything that transport, retries and the sandbox need. */
export type Endpoint<Input extends EndpointInput = EndpointInput, Output = unknown> = {
  readonly name: string;
  readonly summary: string;
  readonly method: 'GET' | 'POST';
  /** The method for platforms that refuse `method` with 405. The 405 proves that nothing was executed. */
  readonly otherMethod?: 'PUT';
  /** The path, with `{name}` for each value of `input.path`. */
  readonly path: `/api/${string}`;
  /** The schema that checks the input before anything is sent; its output is sent. */
  readonly input: z.ZodMiniType<Input, unknown>;
  /** The schema of the members that the response to this input must have. All other members stay as received. */
  readonly output: (input: Input) => z.ZodMiniType<Output, unknown>;
  /** Where a response has its records or, if the response itself is a record, the members that it may have. */
  readonly records: RecordsIn | Pick<RecordsIn, 'members'>;
  /** Whether an object is a result: it has members that no error has. It may also have members of an error. */
  readonly isResult: (answer: Readonly<Record<string, unknown>>) => boolean;
  /**
   * A body that is valid even though it is not JSON: an empty body, or any body but an HTML page. Default: only
   * JSON.
   */
  readonly otherBody?: 'empty' | 'any';
  /** Whether a repeat does no harm: the operation reads, or a repeat costs only its price. */
  readonly mayRepeat: boolean;
  /**
   * Whether the input is private, such as a text to score. If so, no error quotes a response, which may quote the
   * input.
   */
  readonly isPrivate?: true;
  /** The record that a call reads or changes, for errors: `calculation 12`. */
  readonly about: (input: Input) => string;
  /** The time limit for one attempt, in milliseconds. Default: the client's `timeoutMs`. */
  readonly timeoutMs?: number;
};

/** Schema of a segment of a path. `.` and `..` are not allowed, since they would lead to another path. */
export const pathSegment = z.string({ error: 'text' }).check(
  z.refine((value) => value !== '' && value !== '.' && value !== '..', {
    error: 'a name that is not empty, "." or ".."',
  }),
  wellFormed,
);
