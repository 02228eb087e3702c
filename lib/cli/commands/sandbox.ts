import { once } from 'node:events';
import { createRequire } from 'node:module';
import type { SettingName } from '../../contract.ts';
import type { Run } from '../commands.ts';
import { UsageError } from '../errors/usage-error.ts';
import { exitCodes } from '../terminal/terminal.ts';
import { inJson } from '../terminal/words.ts';

/** What only the sandbox needs, in the versions that are tested: optional peers of the package. */
export const sandboxPackages = {
  '@hono/node-server': '2.1.8',
  '@jitl/quickjs-wasmfile-release-sync': '0.32.0',
  hono: '4.13.19',
  'quickjs-emscripten-core': '0.32.0',
  'vader-sentiment': '1.1.3',
} as const satisfies Readonly<Record<string, string>>;

/** Throws `UsageError`, which says how to get them, if any of them is not installed. */
function requireSandboxPackages(): void {
  const missing = Object.entries(sandboxPackages)
    .filter(([name]) => !isThere(name))
    .map(([name, version]) => `${name}@${version}`);
  if (missing.length > 0)
    throw new UsageError(`the sandbox needs packages of its own: npm install ${missing.join(' ')}`);
}

const { resolve } = createRequire(import.meta.url);

function isThere(name: string): boolean {
  try {
    resolve(name);
    return true;
  } catch (error) {
    // It may be there for `import` alone.
    return !(error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND');
  }
}

/** The reference platform, until Ctrl-C. */
export default (async (_, { latency, json, ...options }, { out, err, signal }) => {
  requireSandboxPackages();
  const { startPlatform } = await import('../../sandbox/platform/start-platform.ts');
  await using platform = await startPlatform({
    ...options,
    ...(latency === undefined ? {} : { latencyMs: latency }),
  });
  const settings = {
    PLATFORM_BASE_URL: platform.url,
    PLATFORM_TOKEN: platform.token,
  } satisfies Partial<Record<SettingName, string>>;
  if (json) out(inJson(settings));
  else for (const [name, value] of Object.entries(settings)) out(`export ${name}=${value}`);
  err('Running until Ctrl-C');
  if (!signal.aborted) await once(signal, 'abort');
  return exitCodes.done;
}) satisfies Run<'sandbox'>;
