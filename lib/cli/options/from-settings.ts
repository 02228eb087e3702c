import { needClients } from '../../base/aws/index.ts';
import { storeAsOf } from '../../report/index.ts';
import { openSession, type Session } from '../../session.ts';
import { readSyncSettings } from '../../settings.ts';
import { openStore, type Store } from '../../store/index.ts';
import { asUsage } from '../errors/usage-error.ts';
import type { Terminal } from '../terminal/terminal.ts';

/**
 * Opens a session for a command. `uses`: the settings that the command uses, some of which need an AWS client.
 * Throws `SettingsError`, or `PeerMissingError` for clients that are not installed.
 */
export function openSessionOf(
  terminal: Terminal,
  {
    uses = [],
    ...options
  }: Partial<Parameters<typeof openSession>[0]> & { readonly uses?: Parameters<typeof needClients>[1] } = {},
): Session {
  const session = openSession({ ...terminal, ...options });
  needClients(terminal.environment, ['PLATFORM_TOKEN_SECRET', ...uses]);
  return session;
}

/**
 * Opens the configured store, for commands that do not need the platform; with `atMs`, as it was at that
 * time. Throws `SettingsError` with every fault, and `UsageError` if nothing had been published by that time.
 */
export async function openStoreOf(
  { environment, openStore: open = openStore }: Terminal,
  atMs?: number | undefined,
): Promise<Store> {
  const store = await open(readSyncSettings(environment).SYNC_STORE, { s3: environment });
  if (atMs === undefined) return store;
  return storeAsOf(store, atMs).catch((error: unknown) => {
    throw asUsage('--at', error);
  });
}
