import { spawn } from 'node:child_process';
import { once } from 'node:events';

type Place = { readonly folder: string; readonly environment: Readonly<Record<string, string>> };

export type StartedSandbox = AsyncDisposable & { readonly settings: Readonly<Record<string, string>> };

/** Starts `platform-sync sandbox` as a process with 300 calculations. Throws with what it printed if it ends instead. */
export async function startSandbox(command: string, { folder, environment }: Place): Promise<StartedSandbox> {
  const child = spawn(command, ['sandbox', '--json', '--calculations', '300'], {
    cwd: folder,
    env: { ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  let said = '';
  child.stderr.on('data', (piece) => {
    said += piece;
  });
  const [printed] = await Promise.race([
    once(child.stdout, 'data'),
    ended.then(([code]) => Promise.reject(new Error(`the sandbox ended with ${code}: ${said}`))),
  ]);
  return {
    settings: JSON.parse(String(printed)),
    async [Symbol.asyncDispose]() {
      child.kill('SIGINT');
      await ended;
    },
  };
}
