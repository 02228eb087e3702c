import { parseJson } from '../../lib/base/json/json.ts';
import type { Call, OnOdd } from '../../lib/platform/call.ts';
import type { EndpointInput } from '../../lib/platform/endpoint.ts';
import { PlatformError } from '../../lib/platform/platform-error.ts';

/** Returns the text of the response to a raw call. */
export type Respond = (input: EndpointInput, signal?: AbortSignal) => string | Promise<string>;

/**
 * A call without a network: `respond` responds to raw calls and reads. Any other call fails the test. `onOdd` receives
 * the odd members that reads report.
 */
export function respondingCall(respond: Respond, onOdd?: OnOdd): Call {
  const raw: Call['raw'] = async (_endpoint, input, options) => {
    const text = await respond(input, options?.signal);
    return { text, json: parseJson(text) };
  };
  const read: Call['read'] = async (endpoint, input, make, options) => {
    const body = Buffer.from(await respond(input, options?.signal));
    try {
      return make(body, onOdd);
    } catch (error) {
      if (error instanceof SyntaxError || !(error instanceof Error)) throw error;
      const about = endpoint.about(endpoint.input.parse(input));
      const context = { operation: endpoint.name, about, attempts: 1 };
      throw new PlatformError({ kind: 'shape', faults: [error.message] }, context);
    }
  };
  return Object.assign(() => Promise.reject(new Error('expected raw calls only')), { raw, read });
}

/** A call that responds with these texts in turn, and the inputs it got. */
export function scriptedCall(texts: readonly string[]) {
  const inputs: EndpointInput[] = [];
  const call = respondingCall((input) => {
    inputs.push(input);
    const text = texts[inputs.length - 1];
    if (text === undefined) throw new Error(`no response is scripted for call ${inputs.length}`);
    return text;
  });
  return { call, inputs };
}

/** The error of a call whose response has this status. */
export const statusError = (status: number) =>
  new PlatformError({ kind: 'status', status }, { operation: 'anything', about: 'a record', attempts: 1 });
