import { createProcessPace } from '../../lib/pace/fleet-pace.ts';
import type { Call } from '../../lib/platform/call.ts';
import type { Platform } from '../../lib/platform/client.ts';
import { createPlatform, type PlatformOptions } from '../../lib/platform/open-calls.ts';
import { fixedToken } from '../../lib/platform/token.ts';
import type { Sandbox } from '../../lib/sandbox/platform/start-platform.ts';

type At = Pick<Sandbox, 'url' | 'token'>;

/** The real client for a sandbox, whose retries wait only briefly. */
export const platformOf = ({ url, token }: At, options: Partial<PlatformOptions> = {}): Platform =>
  createPlatform({
    baseUrl: url,
    token: fixedToken(token),
    pace: createProcessPace({ rate: 10_000, concurrency: 8 }),
    retry: { baseDelayMs: 1, maxDelayMs: 20 },
    ...options,
  });

export const callOf = ({ url, ...at }: At, token = at.token): Call => platformOf({ url, token }).call;
