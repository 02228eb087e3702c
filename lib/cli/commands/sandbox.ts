import { once } from 'node:events';
import type { SettingName } from '../../contract.ts';
import { startPlatform } from '../../sandbox/index.ts';
import type { Run } from '../command.ts';
import { UsageError } from '../errors/usage-error.ts';
import { printCommandResult, type Terminal } from '../terminal/terminal.ts';

/** The packages that only the sandbox needs, with the tested versions. They are optional peer dependencies. */
export const sandboxPackages = {
  '@hono/node-server': '2.1.8',
  '@jitl/quickjs-wasmfile-release-sync': '0.32.0',
  hono: '4.13.19',
  'quickjs-emscripten-core': '0.32.0',
  'vader-sentiment': '1.1.3',
} as const satisfies Readonly<Record<string, string>>;

/** Throws `UsageError` if one of the packages is not installed, with the command that installs all of them. */
function requireSandboxPackages(): void {
  try {
    for (const name of Object.keys(sandboxPackages)) import.meta.resolve(name);
  } catch (cause) {
    const all = Object.entries(sandboxPackages).map(([name, version]) => `${name}@${version}`);
    throw new UsageError(`the sandbox needs more packages: npm install ${all.join(' ')}`, { cause });
  }
}

/** The port and the token in the settings, if the platform is on this machine, as after `init --sandbox`. */
function addressIn({ PLATFORM_BASE_URL: url = '', PLATFORM_TOKEN: token }: Terminal['environment']) {
  const port = /^http:\/\/127\.0\.0\.1:(\d+)$/.exec(url)?.[1];
  return port === undefined ? {} : { port: Number(port), ...(token ? { token } : {}) };
}

/** The options that the user typed; all others keep their defaults. */
const definedIn = (options: Readonly<Record<string, number | readonly string[] | undefined>>) =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));

/** Throws `UsageError` if the port is in use, most likely by a sandbox that is already running. */
function asUsage(error: unknown): never {
  if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error;
  throw new UsageError(
    'PLATFORM_BASE_URL: its port is in use, most likely by a sandbox that is already running. Without this setting, the sandbox starts on a free port',
  );
}

/** Runs the simulated platform until Ctrl-C. */
export default (async (_, flags, { environment, out, err, signal }) => {
  const { seed, calculations, latency, rate, limit: limits, faults, odd, churn, json } = flags;
  requireSandboxPackages();
  await using platform = await startPlatform({
    ...definedIn({ seed, calculations, latencyMs: latency, rate, limits, faults, odd, churn }),
    ...addressIn(environment),
  }).catch(asUsage);
  const settings = {
    PLATFORM_BASE_URL: platform.url,
    PLATFORM_TOKEN: platform.token,
  } satisfies Partial<Record<SettingName, string>>;
  const words = Object.entries(settings).map(([name, value]) => `export ${name}=${value}`);
  printCommandResult({ json: settings, words }, json, { out });
  err('Running until Ctrl-C');
  if (!signal.aborted) await once(signal, 'abort');
  return 'done' as const;
}) satisfies Run<'sandbox'>;
