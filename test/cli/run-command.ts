import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { runCommandLine } from '../../lib/cli/command-line.ts';
import type { Terminal } from '../../lib/cli/terminal/terminal.ts';
import type { Sandbox } from '../../lib/sandbox/platform/start-platform.ts';
import type { Manifest } from '../../lib/snapshot/manifest.ts';
import { checkedShape } from './checked-shape.ts';
import { createFakeTerminal } from './fake-terminal.ts';

/** Starts a command line in this process, whose output must match `docs/schemas`. `interrupt` acts as Ctrl-C. */
export function beginCommand(
  argv: readonly string[],
  environment: Terminal['environment'] = {},
  { input = '', ...more }: Partial<Terminal> & { readonly input?: string | Uint8Array | undefined } = {},
) {
  const { terminal, out, err, interrupt } = createFakeTerminal(environment, input);
  const ended = runCommandLine(argv, { ...terminal, ...more }).then((code) =>
    checkedShape(argv, { code, out: out(), err: err() }),
  );
  return { ended, err, interrupt };
}

/** Runs a command line in this process to its end. */
export const runCommand = (
  argv: readonly string[],
  environment?: Terminal['environment'],
  input?: string | Uint8Array,
  more?: Partial<Terminal>,
) => beginCommand(argv, environment, { input, ...more }).ended;

/** Settings for a reference platform, at a high rate, and this store. */
export const settingsOf = ({ url, token }: Pick<Sandbox, 'url' | 'token'>, store: string) => ({
  PLATFORM_BASE_URL: url,
  PLATFORM_TOKEN: token,
  PLATFORM_RATE: '1000',
  SYNC_STORE: store,
});

/** The published run of a place: its manifest, and the lines of its parts. */
export async function publishedIn(folder: string, place: string) {
  const read = async (key: string) => JSON.parse(await readFile(join(folder, key), 'utf8'));
  const manifest = (await read((await read(`${place}/latest.json`)).manifest)) as Manifest;
  const bodies = await Promise.all(manifest.parts.map(({ key }) => readFile(join(folder, key))));
  const lines = bodies.flatMap((body) => gunzipSync(body).toString().split('\n').slice(0, -1));
  return { manifest, lines };
}
