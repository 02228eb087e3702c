import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import type { Terminal } from './terminal.ts';

/** The store that is set, for commands that do not need the platform. */
export const openStoreOf = (environment: Terminal['environment']): Promise<Store> =>
  openStore(environment['SYNC_STORE'] || './platform-sync-data', { s3: environment });
