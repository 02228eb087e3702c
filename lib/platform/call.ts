import { checkedBy, faultsOf, type InHand, preview, printJson } from '../base/index.ts';
import { type Endpoint, type EndpointInput, targetOf } from './endpoint.ts';
import { notifyAll } from './events.ts';
import { type JsonResponse, type ReadResponse, readAsBoundedJson, readAsJson } from './http/transport.ts';
import { PlatformError } from './platform-error.ts';
import { redact } from './redact.ts';
import {
  type CallOptions,
  type Done,
  type PreparedCall,
  type SendParts,
  sendUntilDone,
} from './send-until-done.ts';
import { shapeFaults } from './shape-faults.ts';

export type { CallOptions } from './send-until-done.ts';

/** Calls an endpoint: checks the input, waits for its turn, sends, retries by the policy. */
export type Call = {
  /** The response, validated by the endpoint's schema. Throws `PlatformError`, or the caller's abort. */
  <Input extends EndpointInput, Output>(
    endpoint: Endpoint<Input, Output>,
    input: EndpointInput,
    options?: CallOptions,
  ): Promise<Output>;
  /** The response as received: complete, valid JSON of any shape, and its text. For callers that store records unchanged. */
  raw<Input extends EndpointInput>(
    endpoint: Endpoint<Input, unknown>,
    input: EndpointInput,
    options?: CallOptions,
  ): Promise<JsonResponse>;
  /**
   * What `read` makes of the response's bytes. It must throw `SyntaxError` on anything but complete, valid JSON, which
   * is then fetched again where a repeat does no harm; anything else it throws is a `shape` failure.
   */
  read<Input extends EndpointInput, T>(
    endpoint: Endpoint<Input, unknown>,
    input: EndpointInput,
    read: ReadResponse<T>,
    options?: CallOptions,
  ): Promise<T>;
};

/** What a call needs; whatever leaves the process or is not deterministic is passed in. */
export type CallParts = SendParts & {
  /** For endpoints without a time limit of their own, in milliseconds. */
  readonly timeoutMs: number;
  readonly inHand?: InHand | undefined;
};

/** Makes the one function that all operations go through. */
export function createCall(given: CallParts): Call {
  const parts = { ...given, observe: notifyAll([given.observe]), contact: { wasReached: false } };
  const send = async <Input extends EndpointInput, T>(
    endpoint: Endpoint<Input, unknown>,
    input: EndpointInput,
    read: ReadResponse<T>,
    options: CallOptions = {},
  ): Promise<Done<T>> => {
    const prepared = prepareCall(endpoint, input, parts.timeoutMs, read);
    using _ = parts.inHand?.hold(prepared.context);
    // What `read` returned comes back untouched: the one place where its type is asserted.
    return (await sendUntilDone(prepared, parts, options)) as Done<T>;
  };
  const call = async <Input extends EndpointInput, Output>(
    endpoint: Endpoint<Input, Output>,
    input: EndpointInput,
    options?: CallOptions,
  ): Promise<Output> => {
    const { response, token, context } = await send(endpoint, input, jsonReader(endpoint), options);
    const parsed = checkedBy(endpoint.output, response.json);
    if (parsed.success) return parsed.data;
    // Faults quote the response, which may echo the token.
    const faults = shapeFaults(parsed.error, response.json, {
      hide: (text) => redact(text, token),
      isPrivate: endpoint.isPrivate ?? false,
    });
    throw new PlatformError({ kind: 'shape', faults }, context);
  };
  return Object.assign(call, {
    raw: async (endpoint, input, options) =>
      (await send(endpoint, input, jsonReader(endpoint), options)).response,
    read: async (endpoint, input, read, options) => (await send(endpoint, input, read, options)).response,
  } satisfies Pick<Call, 'raw' | 'read'>);
}

/** A call that is ready to be sent as often as needed. Throws `PlatformError` with every fault of the input. */
function prepareCall<Input extends EndpointInput>(
  endpoint: Endpoint<Input, unknown>,
  input: EndpointInput,
  timeoutMs: number,
  read: ReadResponse<unknown>,
): PreparedCall {
  const checked = checkedBy(endpoint.input, input);
  if (!checked.success) {
    const place = (path: readonly PropertyKey[]) => path.slice(1).join('.') || String(path[0]);
    throw notSent(endpoint, faultsOf(checked.error, input, { place }));
  }
  const { data } = checked;
  const faults = brokenTexts({ ...data.path, ...data.query });
  if (faults.length > 0) throw notSent(endpoint, faults);
  return {
    context: { operation: endpoint.name, about: endpoint.about(data) },
    request: {
      method: endpoint.method,
      target: targetOf(endpoint, data),
      body: data.body === undefined ? undefined : printJson(data.body),
      timeoutMs: endpoint.timeoutMs ?? timeoutMs,
      mayRepeat: endpoint.mayRepeat,
      isPrivate: endpoint.isPrivate ?? false,
      read,
    },
  };
}

const notSent = ({ name: operation }: Pick<Endpoint, 'name'>, faults: readonly string[]): PlatformError =>
  new PlatformError({ kind: 'input', faults }, { operation, about: 'not sent', attempts: 0 });

/** The values that no URL can hold: half a surrogate pair has no percent-encoding. */
const brokenTexts = (values: Readonly<Record<string, unknown>>): readonly string[] =>
  Object.entries(values).flatMap(([name, value]) =>
    String(value).isWellFormed() ? [] : [`${name}: expected well-formed Unicode, got ${preview(value)}`],
  );

/** What ran cannot be fetched again, so that its response is read however many values it holds. */
const jsonReader = ({ mayRepeat }: { readonly mayRepeat: boolean }): ReadResponse<JsonResponse> =>
  mayRepeat ? readAsBoundedJson : readAsJson;
