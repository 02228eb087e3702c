import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Throws unless Java is installed and at least this old. */
export async function checkJava(wanted: number): Promise<void> {
  const { stderr } = await promisify(execFile)('java', ['-version']).catch((error) => {
    throw new Error(`needs Java ${wanted}, which is not installed`, { cause: error });
  });
  const version = Number(/version "(?:1\.)?(\d+)/.exec(stderr)?.[1] ?? 0);
  if (version < wanted) throw new Error(`needs Java ${wanted}, got ${version || stderr}`);
}
