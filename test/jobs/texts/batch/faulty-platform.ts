import type { Analyze } from '../../../../lib/jobs/texts/scoring/scoring-session.ts';
import type { PlatformFailure } from '../../../../lib/platform/failure.ts';
import { PlatformError } from '../../../../lib/platform/platform-error.ts';
import { longWait, lost, sentimentOf } from '../fakes.ts';

/** The failure of a call: a status, or a lost response. */
export type Fault = 400 | 401 | 409 | 429 | 500 | 'lost';

export type FaultPlan = {
  /** Texts that always fail until `heal` is called, and how. */
  readonly ofText: ReadonlyMap<string, Fault>;
  /** Faults of the calls from number `from` until before `to` (1 is the first call), whatever their text. */
  readonly ofCalls: readonly { readonly from: number; readonly to: number; readonly fault: Fault }[];
  /** The numbers (1 is the first) of calls whose slot is too late, so that they are not sent. */
  readonly putOff: ReadonlySet<number>;
};

/** A platform with faults that counts the calls it may have been paid for. */
export function faultyPlatform(plan: FaultPlan) {
  let [turns, calls] = [0, 0];
  let isHealthy = false;
  /** `paid`: calls that may have been executed. `responses`: those whose response arrived. */
  const seen = { paid: 0, responses: 0 };
  const faultOf = (text: string): Fault | undefined => {
    if (isHealthy) return undefined;
    const now = plan.ofCalls.find(({ from, to }) => calls >= from && calls < to);
    return now?.fault ?? plan.ofText.get(text);
  };
  const analyze: Analyze = async (request, { beforeSend, onSend, signal } = {}) => {
    signal?.throwIfAborted();
    turns += 1;
    if (!isHealthy && plan.putOff.has(turns)) throw errorOf(longWait);
    await beforeSend?.();
    onSend?.();
    calls += 1;
    const fault = faultOf(request.text);
    if (fault === undefined || !UNPAID.includes(fault)) seen.paid += 1;
    if (fault !== undefined) throw errorOf(fault === 'lost' ? lost : { kind: 'status', status: fault });
    seen.responses += 1;
    return sentimentOf(request);
  };
  return {
    analyze,
    seen,
    /** From now on, every call succeeds. */
    heal: () => {
      isHealthy = true;
    },
  };
}

/** Faults that prove that the call was not executed. */
const UNPAID: readonly Fault[] = [400, 401, 429];

const errorOf = (failure: PlatformFailure) =>
  new PlatformError(failure, { operation: 'analyzeSentiment', about: 'a text', attempts: 1 });
