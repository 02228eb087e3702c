import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { getCompileCacheDir } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../../..', import.meta.url));

export type SynthesizedStack = {
  /** The folder with the template and the assets, as `cdk synth` wrote them. */
  readonly folder: string;
} & AsyncDisposable;

/**
 * Synthesizes the stack of one instance with `cdk synth`, without a network or an account, into a folder that is removed
 * at the end. Throws with the command's error output.
 */
export async function synthStack(instance: object, signal?: AbortSignal): Promise<SynthesizedStack> {
  const folder = await mkdtemp(join(tmpdir(), 'platform-sync-stack-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  const context = `platform-sync=${JSON.stringify({ instances: [instance] })}`;
  try {
    await promisify(execFile)(
      process.execPath,
      [CDK, 'synth', '--quiet', '--no-lookups', '--output', folder, '--context', context],
      {
        cwd: root,
        env: {
          // The app is started by `node`; nothing else is needed, and no network is used.
          PATH: dirname(process.execPath),
          HOME: folder,
          // The CDK's own check of each template takes 4 s and only warns.
          CDK_VALIDATION: 'false',
          ...compileCache(),
        },
        ...(signal === undefined ? {} : { signal }),
      },
    );
  } catch (error) {
    await remove();
    const { stderr = '', message } = error as Error & { readonly stderr?: string };
    throw new Error(`cdk synth: ${stderr.trim() || message}`, { cause: error });
  }
  return { folder, [Symbol.asyncDispose]: remove };
}

/** This process's compile cache, if it has one. The setting is the parent folder, which has one for each version of Node. */
function compileCache(): Readonly<Record<string, string>> {
  const folder = getCompileCacheDir();
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}

const CDK = join(root, 'node_modules', 'aws-cdk', 'bin', 'cdk');
