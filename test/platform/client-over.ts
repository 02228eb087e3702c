import type { Pace } from '../../lib/pace/pace.ts';
import { createCall } from '../../lib/platform/call.ts';
import { operations, type Platform } from '../../lib/platform/client.ts';
import type { Send } from '../../lib/platform/http/transport.ts';
import { defaultRetryLimits } from '../../lib/platform/retry.ts';
import { fixedToken } from '../../lib/platform/token.ts';

type ClientParts = {
  readonly send: Send;
  readonly pace: Pace;
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random: () => number;
};

/** The real client of the platform, over a simulated world. */
export const clientOver = (parts: ClientParts): Platform =>
  operations(
    createCall({
      ...parts,
      token: fixedToken('token'),
      observe: () => undefined,
      limits: { ...defaultRetryLimits, budgetMs: 20_000 },
      timeoutMs: 60_000,
    }),
  );
