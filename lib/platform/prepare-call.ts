import { checkedBy, faultsOf, preview, printJson } from '../base/index.ts';
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
  const checked = checkedBy(endpoint.input, input);
  if (!checked.success) {
    const place = (path: readonly PropertyKey[]) => path.slice(1).join('.') || String(path[0]);
    const faults = faultsOf(checked.error, input, { place });
    throw notSent(endpoint, faults);
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
