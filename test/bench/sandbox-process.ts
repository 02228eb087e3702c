import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A reference platform in a process of its own, so that it does not share our event loop. */
export type SandboxProcess = AsyncDisposable & {
  readonly settings: Readonly<Record<string, string>>;
  /** What it has counted so far. */
  counts(): Promise<{
    readonly byOperation: Readonly<Record<string, Readonly<Record<string, number>>>>;
    readonly mostInOneSecond: number;
  }>;
};

/** Starts `platform-sync sandbox` with these flags. */
export async function startSandboxProcess(...flags: readonly string[]): Promise<SandboxProcess> {
  const child = spawn(process.execPath, ['lib/cli/bin.js', 'sandbox', '--json', ...flags], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let printed = '';
  for await (const chunk of child.stdout) {
    printed += chunk;
    if (printed.trimEnd().endsWith('}')) break;
  }
  const settings = JSON.parse(printed) as Record<string, string>;
  return {
    settings,
    counts: async () => (await fetch(`${settings['PLATFORM_BASE_URL']}/_sandbox/counts`)).json() as never,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}
