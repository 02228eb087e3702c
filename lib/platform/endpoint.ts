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

/** One operation of the platform as data: all that transport, retry and sandbox need. */
export type Endpoint<Input extends EndpointInput = EndpointInput, Output = unknown> = {
  readonly name: string;
  readonly summary: string;
  readonly method: 'GET' | 'POST';
  /** The method of platforms that refuse `method` with 405, which proves that nothing was executed. */
  readonly otherMethod?: 'PUT';
  /** With `{name}` for each value of `input.path`. */
  readonly path: `/api/${string}`;
  /** Checks the input before anything is sent; its output is what is sent. */
  readonly input: z.ZodMiniType<Input, unknown>;
  /** Checks what the response to this input must have; everything else is kept as received. */
  readonly output: (input: Input) => z.ZodMiniType<Output, unknown>;
  /** Where the records of a response are, or the members of a response that is itself a record. */
  readonly records: RecordsIn | Pick<RecordsIn, 'members'>;
  /** A body that is valid although it is not JSON: an empty one, or any except an HTML page. Default: none. */
  readonly otherBody?: 'empty' | 'any';
  /** True if repeating it does no harm: a read, or a call whose only cost is its price. */
  readonly mayRepeat: boolean;
  /** True if the input is private, such as a text to score: no error quotes a response, which may quote the text. */
  readonly isPrivate?: true;
  /** The record that a call is about, for errors: `calculation 12`. */
  readonly about: (input: Input) => string;
  /** The time limit for one attempt, in milliseconds. Default: the client's `timeoutMs`. */
  readonly timeoutMs?: number;
};

/** Any text that a URL can hold. */
export const urlText = z.string({ error: 'text' }).check(wellFormed);

/** Text that becomes a segment of a path: `.` and `..` would be read as steps within it. */
export const pathSegment = z.string({ error: 'text' }).check(
  z.refine((value) => value !== '' && value !== '.' && value !== '..', {
    error: 'a name that is not empty, "." or ".."',
  }),
  wellFormed,
);
