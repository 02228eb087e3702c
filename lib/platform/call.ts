import type { Endpoint, EndpointInput } from './endpoint.ts';
import { tellAll } from './events.ts';
import { type Answer, type ReadAnswer, readAsJson } from './http/transport.ts';
import { PlatformError } from './platform-error.ts';
import { prepareCall } from './prepare-call.ts';
import { type CallOptions, type Done, type SendParts, sendUntilDone } from './send-until-done.ts';
import { shapeFaults } from './shape-faults.ts';
import { redact } from './token.ts';

export type { CallOptions } from './send-until-done.ts';

/** Calls an endpoint: checks the input, waits for its turn, sends, retries by the policy. */
export type Call = {
  /** The answer, held against the endpoint's schema. Throws `PlatformError`, or the caller's abort. */
  <Input extends EndpointInput, Output>(
    endpoint: Endpoint<Input, Output>,
    input: EndpointInput,
    options?: CallOptions,
  ): Promise<Output>;
  /** The answer as it came: whole, valid JSON and its text, of whatever shape. For those who keep records as sent. */
  raw<Input extends EndpointInput>(
    endpoint: Endpoint<Input, unknown>,
    input: EndpointInput,
    options?: CallOptions,
  ): Promise<Answer>;
  /**
   * What `read` makes of the answer's bytes. It must throw `SyntaxError` on what is not whole, valid JSON, which is
   * then fetched again where a repeat does no harm; what else it throws is a `shape` failure.
   */
  read<Input extends EndpointInput, T>(
    endpoint: Endpoint<Input, unknown>,
    input: EndpointInput,
    read: ReadAnswer<T>,
    options?: CallOptions,
  ): Promise<T>;
};

/** What a call needs; whatever leaves the process or is not the same twice is passed in. */
export type CallParts = SendParts & {
  /** For endpoints without a time limit of their own, in milliseconds. */
  readonly timeoutMs: number;
};

/** Makes the one function that all operations go through. */
export function createCall(given: CallParts): Call {
  const parts = { ...given, observe: tellAll([given.observe]) };
  const send = async <Input extends EndpointInput, T>(
    endpoint: Endpoint<Input, unknown>,
    input: EndpointInput,
    read: ReadAnswer<T>,
    options: CallOptions = {},
  ): Promise<Done<T>> => {
    const prepared = prepareCall(endpoint, input, { timeoutMs: parts.timeoutMs, read });
    // What `read` made comes back untouched: the one place where its type is asserted.
    return (await sendUntilDone(prepared, parts, options)) as Done<T>;
  };
  const call = async <Input extends EndpointInput, Output>(
    endpoint: Endpoint<Input, Output>,
    input: EndpointInput,
    options?: CallOptions,
  ): Promise<Output> => {
    const { answer, token, context } = await send(endpoint, input, readAsJson, options);
    const parsed = endpoint.output.safeParse(answer.json);
    if (parsed.success) return parsed.data;
    // Faults quote the answer, which may echo the token.
    const faults = shapeFaults(parsed.error, answer.json, (text) => redact(text, token));
    throw new PlatformError({ kind: 'shape', faults }, context);
  };
  return Object.assign(call, {
    raw: async (endpoint, input, options) => (await send(endpoint, input, readAsJson, options)).answer,
    read: async (endpoint, input, read, options) => (await send(endpoint, input, read, options)).answer,
  } satisfies Pick<Call, 'raw' | 'read'>);
}
