import { faultsOf } from '../json/faults.ts';
import { printJson } from '../json/json.ts';
import { type Endpoint, type EndpointInput, targetOf } from './endpoint.ts';
import type { PlatformRequest, ReadResponse } from './http/transport.ts';
import { type CallContext, PlatformError } from './platform-error.ts';

/** A call whose input was checked, ready to be sent as often as needed. */
export type PreparedCall = {
  readonly request: PlatformRequest;
  readonly context: Omit<CallContext, 'attempts'>;
};

export type PrepareOptions = {
  /** For an endpoint without a time limit of its own, in milliseconds. */
  readonly timeoutMs: number;
  readonly read: ReadResponse<unknown>;
};

/** Checks the input against the endpoint's schema. Throws `PlatformError` with every fault. */
export function prepareCall<Input extends EndpointInput>(
  endpoint: Endpoint<Input, unknown>,
  input: EndpointInput,
  { timeoutMs, read }: PrepareOptions,
): PreparedCall {
  const checked = endpoint.input.safeParse(input);
  if (!checked.success) {
    const place = (path: readonly PropertyKey[]) => path.slice(1).join('.') || String(path[0]);
    const faults = faultsOf(checked.error, input, { place });
    throw new PlatformError(
      { kind: 'input', faults },
      { operation: endpoint.name, about: 'not sent', attempts: 0 },
    );
  }
  const { data } = checked;
  return {
    context: { operation: endpoint.name, about: endpoint.about(data) },
    request: {
      method: endpoint.method,
      target: targetOf(endpoint, data),
      body: data.body === undefined ? undefined : printJson(data.body),
      timeoutMs: endpoint.timeoutMs ?? timeoutMs,
      mayRepeat: endpoint.mayRepeat,
      read,
    },
  };
}
