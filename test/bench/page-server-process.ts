import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A server of pages of calculations, in a separate process. */
export type PageServerProcess = AsyncDisposable & { readonly url: string };

/** Starts `page-server.ts` with this many records. */
export async function startPageServer(records: number): Promise<PageServerProcess> {
  const child = spawn(process.execPath, ['test/bench/page-server.ts', String(records)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return {
    url: line.toString().trim(),
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}
