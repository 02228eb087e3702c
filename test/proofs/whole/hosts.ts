import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';

const DAY_MS = 86_400_000;

/** Gives the host another name each day, as a laptop has in another network. */
export function renameHost(now: () => number): Disposable {
  const { hostname } = os;
  os.hostname = () => `host-${Math.floor(now() / DAY_MS)}`;
  syncBuiltinESMExports();
  return {
    [Symbol.dispose]() {
      os.hostname = hostname;
      syncBuiltinESMExports();
    },
  };
}
