/*
 * The reference platform: a server on loopback that follows the platform's contract, with seeded records. Its
 * modules are loaded only when it starts.
 */

export type { PlatformOptions } from './platform/options.ts';
export type { Sandbox } from './platform/start-platform.ts';

/**
 * Starts the sandbox on 127.0.0.1. Throws a `TypeError` that lists every invalid option, or the error of `listen`, such
 * as `EADDRINUSE`.
 */
export const startPlatform = async (
  ...args: Parameters<typeof import('./platform/start-platform.ts')['startPlatform']>
) => (await import('./platform/start-platform.ts')).startPlatform(...args);
