import { parseJson } from '../../lib/json/json.ts';
import type { Call } from '../../lib/platform/call.ts';
import type { EndpointInput } from '../../lib/platform/endpoint.ts';
import { PlatformError } from '../../lib/platform/platform-error.ts';

/** The text that answers a raw call. */
export type AnswerTo = (input: EndpointInput, signal?: AbortSignal) => string | Promise<string>;

/** A call that goes nowhere: what is read as it came is answered by `answer`, all else is the test's fault. */
export function answeringCall(answer: AnswerTo): Call {
  const raw: Call['raw'] = async (_endpoint, input, options) => {
    const text = await answer(input, options?.signal);
    return { text, json: parseJson(text) };
  };
  const read: Call['read'] = async (_endpoint, input, make, options) =>
    make(Buffer.from(await answer(input, options?.signal)));
  return Object.assign(() => Promise.reject(new Error('expected raw calls only')), { raw, read });
}

/** A call whose answers are these texts in turn, and what it was called with. */
export function scriptedCall(texts: readonly string[]) {
  const inputs: EndpointInput[] = [];
  const call = answeringCall((input) => {
    inputs.push(input);
    const text = texts[inputs.length - 1];
    if (text === undefined) throw new Error(`nothing is scripted for call ${inputs.length}`);
    return text;
  });
  return { call, inputs };
}

/** The error of a call that answered this status. */
export const statusError = (status: number) =>
  new PlatformError({ kind: 'status', status }, { operation: 'anything', about: 'a record', attempts: 1 });
