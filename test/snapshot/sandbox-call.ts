import { createLocalPace } from '../../lib/pace/fleet-pace.ts';
import type { Call } from '../../lib/platform/call.ts';
import { createPlatform } from '../../lib/platform/client.ts';
import { fixedToken } from '../../lib/platform/token.ts';
import type { Sandbox } from '../../lib/sandbox/platform/start-platform.ts';

/** The real client's call on a sandbox; it retries after short waits. */
export const callOf = (sandbox: Sandbox, token = sandbox.token): Call =>
  createPlatform({
    baseUrl: sandbox.url,
    token: fixedToken(token),
    pace: createLocalPace({ rate: 10_000, concurrency: 8 }),
    retry: { baseDelayMs: 1, maxDelayMs: 20 },
  }).call;
