/* What other apps use: the construct, its props, and the error that lists every fault in them. */

export { ConfigError } from './config.ts';
export { PlatformSync } from './platform-sync.ts';
export type { PlatformSyncProps } from './platform-sync-props.ts';
