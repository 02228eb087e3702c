/* The reference platform: the platform's contract over HTTP on loopback, with seeded records. What serves it is loaded when it starts. */

export type { PlatformOptions } from './platform/options.ts';
export type { Sandbox } from './platform/start-platform.ts';

/** Starts the sandbox on 127.0.0.1. Throws a `TypeError` that names every wrong option, or the error of `listen`, such as `EADDRINUSE`. */
export const startPlatform = async (
  ...given: Parameters<typeof import('./platform/start-platform.ts')['startPlatform']>
) => (await import('./platform/start-platform.ts')).startPlatform(...given);
