import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Finds a Java of at least this version: in the path, in `JAVA_HOME`, or among those installed. Throws if there is none. */
export async function findJava(wanted: number): Promise<string> {
  const home = process.env['JAVA_HOME'];
  const others = [
    ...(home === undefined ? [] : [join(home, 'bin', 'java')]),
    ...globSync('/usr/lib/jvm/*/bin/java').sort(),
  ];
  let found: string | undefined;
  for (const java of ['java', ...others]) {
    const version = await versionOf(java);
    if (version !== undefined && version >= wanted) return java;
    found ??= version === undefined ? undefined : `${version}`;
  }
  throw new Error(`needs Java ${wanted}, ${found === undefined ? 'which is not installed' : `got ${found}`}`);
}

/** The Java version of this program; undefined if it is not Java. */
async function versionOf(java: string): Promise<number | undefined> {
  const printed = await promisify(execFile)(java, ['-version']).catch(() => undefined);
  const version = /version "(?:1\.)?(\d+)/.exec(printed?.stderr ?? '')?.[1];
  return version === undefined ? undefined : Number(version);
}
