import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import type { Terminal } from './terminal.ts';

/** The store of the settings, for commands that need no platform. */
export const openStoreOf = (environment: Terminal['environment']): Promise<Store> =>
  openStore(environment['SYNC_STORE'] || './platform-sync-data', { s3: environment });
