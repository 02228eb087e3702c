import { hash, randomBytes } from 'node:crypto';
import { ToolError } from './tool.ts';

/** How long a token may be used. */
export const CONFIRM_MINUTES = 10;

/** The most plans that wait for their token; the oldest are dropped. */
const MOST_WAITING = 50;

type Waiting<Plan, Outcome> = {
  readonly plan: Plan;
  /** A hash of the content of the call that made it. */
  readonly content: string;
  readonly untilMs: number;
  /** Set once the token was used. */
  outcome: Promise<Outcome> | undefined;
};

/** What was carried out; `isRepeat`: by an earlier call with the token. */
export type Confirmed<Outcome> = { readonly outcome: Outcome; readonly isRepeat: boolean };

/**
 * Plans that wait for a second call. A token is bound to the exact content of the call that made it, holds for ten
 * minutes, and carries its plan out once: used again, it returns the outcome of the first use.
 */
export function createConfirmations<Plan, Outcome>(now: () => number) {
  const waiting = new Map<string, Waiting<Plan, Outcome>>();

  return {
    /** Makes a token for a plan that the content asks for. */
    plan(content: string, plan: Plan): { readonly token: string; readonly untilMs: number } {
      const token = randomBytes(16).toString('hex');
      const untilMs = now() + CONFIRM_MINUTES * 60_000;
      for (const [each, { untilMs: endMs }] of waiting) if (endMs < now()) waiting.delete(each);
      const [oldest] = waiting.keys();
      if (waiting.size >= MOST_WAITING && oldest !== undefined) waiting.delete(oldest);
      waiting.set(token, { plan, content: hash('sha256', content), untilMs, outcome: undefined });
      return { token, untilMs };
    },
    /** Carries out the plan of a token. Throws `ToolError` if there is none for this content, or it has expired. */
    async confirm(
      token: string,
      content: string,
      carryOut: (plan: Plan) => Promise<Outcome>,
    ): Promise<Confirmed<Outcome>> {
      const found = waiting.get(token);
      if (found === undefined || found.untilMs < now()) throw unknown(found === undefined);
      if (found.content !== hash('sha256', content))
        throw new ToolError(
          'confirm: expected exactly what the token was given for, got other arguments; nothing was sent: call again without confirm to see what these would send',
        );
      const isRepeat = found.outcome !== undefined;
      // Set before anything is awaited: a second call at the same time must not send.
      found.outcome ??= carryOut(found.plan);
      return { outcome: await found.outcome, isRepeat };
    },
  };
}

const unknown = (isUnknown: boolean) =>
  new ToolError(
    `confirm: expected the token of an earlier result of this server, got ${isUnknown ? 'another text' : `one that is older than ${CONFIRM_MINUTES} minutes`}; this call sent nothing: call again without confirm, and look with jobs whether an earlier one did`,
  );
