import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A reference platform in a separate process, so that it does not share our event loop. */
export type SandboxProcess = AsyncDisposable & {
  readonly settings: Readonly<Record<string, string>>;
  /** Its counts so far. */
  counts(): Promise<{
    readonly byOperation: Readonly<Record<string, Readonly<Record<string, number>>>>;
    readonly mostInOneSecond: number;
  }>;
};

/** Starts `platform-sync sandbox` with these flags. */
export async function startSandboxProcess(...flags: readonly string[]): Promise<SandboxProcess> {
  const { settings, ...started } = await startServers('lib/cli/bin.js', 'sandbox', '--json', ...flags);
  return {
    ...started,
    settings,
    counts: async () => (await fetch(`${settings['PLATFORM_BASE_URL']}/_sandbox/counts`)).json() as never,
  };
}

/** Starts the local AWS in a separate process. */
export const startLocalAwsProcess = () => startServers('test/local-aws/run.ts', '--json');

/** Starts a program that prints the settings that reach its servers as one JSON value. */
async function startServers(
  ...words: readonly string[]
): Promise<AsyncDisposable & Pick<SandboxProcess, 'settings'>> {
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'ignore'] });
  let printed = '';
  for await (const chunk of child.stdout) {
    printed += chunk;
    if (printed.trimEnd().endsWith('}')) break;
  }
  return {
    settings: JSON.parse(printed),
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}
