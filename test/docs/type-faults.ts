import { spawnSync } from 'node:child_process';
import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Block } from './blocks.ts';

const ENTRIES = {
  'platform-sync/platform': 'lib/entries/platform.ts',
  'platform-sync/formula': 'lib/entries/formula.ts',
} as const;

const root = resolve('.');

/** The compiler's errors in blocks of TypeScript, each a separate module, with the position of the block. */
export function typeFaults(blocks: readonly Pick<Block, 'at' | 'text'>[]): readonly string[] {
  using folder = mkdtempDisposableSync(join(root, 'node_modules', '.docs-types-'));
  const files = blocks.map(({ at, text }) => {
    const file = `${at.replaceAll(/[^\w]/g, '-')}.mts`;
    writeFileSync(join(folder.path, file), text.replaceAll("from '../", `from '${root}/`));
    return file;
  });
  writeFileSync(join(folder.path, 'tsconfig.json'), JSON.stringify(configOf(files)));
  const { stdout } = spawnSync(process.execPath, [TSC, '-p', folder.path], { encoding: 'utf8' });
  return stdout.split('\n').filter((line) => line.trim() !== '');
}

const TSC = join(root, 'node_modules', 'typescript', 'bin', 'tsc');

const configOf = (files: readonly string[]) => ({
  extends: join(root, 'tsconfig.json'),
  compilerOptions: {
    noUnusedLocals: false,
    typeRoots: [join(root, 'node_modules', '@types')],
    paths: {
      ...Object.fromEntries(Object.entries(ENTRIES).map(([name, path]) => [name, [join(root, path)]])),
    },
  },
  files,
  include: [],
  exclude: [],
});
