import type { Platform } from '../../lib/platform/client.ts';
import { createPlatform, type PlatformOptions } from '../../lib/platform/open-calls.ts';
import { fixedToken } from '../../lib/platform/token.ts';
import { createFakePace } from '../pace/fake-pace.ts';

/** The real client of a server at an address, with a pace that lets every call leave unless another is given. */
export const clientAt = (baseUrl: string, options: Partial<PlatformOptions> = {}): Platform =>
  createPlatform({ baseUrl, token: fixedToken('abc'), pace: createFakePace(), ...options });
