import type { PlatformOptions } from '../../sandbox/platform/options.ts';
import { type Sandbox, startPlatform } from '../../sandbox/platform/start-platform.ts';

/** The reference platform of the tour. */
export type Instance = AsyncDisposable & {
  readonly platform: Sandbox;
  /** Starts it again at the same address, as if it had changed. */
  restart(options?: PlatformOptions): Promise<void>;
};

/** Starts the platform as it is by default. */
export async function startInstance(): Promise<Instance> {
  let platform = await startPlatform();
  const port = Number(new URL(platform.url).port);
  return {
    get platform() {
      return platform;
    },
    async restart(options = {}) {
      await platform.close();
      platform = await startPlatform({ ...options, port });
    },
    [Symbol.asyncDispose]: () => platform.close(),
  };
}
