import { execFile } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderOfEach } from '../folder-of-each.ts';
import { blocks } from './blocks.ts';

const folder = folderOfEach();

/** Runs the nightly script of the recipes, where a snapshot of a source ends with this code. Returns the script's. */
function endOf(codes: Readonly<Record<string, number>>): Promise<number> {
  const script = blocks.find(
    ({ at, text }) => at.startsWith('docs/recipes.md') && text.includes('exit $worst'),
  );
  const cases = Object.entries(codes).map(([source, code]) => `${source}) exit ${code};;`);
  writeFileSync(join(folder.path, 'npx'), `#!/bin/sh\ncase $3 in ${cases.join(' ')} esac\n`);
  chmodSync(join(folder.path, 'npx'), 0o700);
  writeFileSync(join(folder.path, 'nightly.sh'), script?.text ?? '');
  return new Promise((resolve) => {
    const environment = { PATH: `${folder.path}:${process.env['PATH']}` };
    const child = execFile('sh', ['nightly.sh'], { cwd: folder.path, env: environment });
    child.once('exit', (code) => resolve(code ?? -1));
  });
}

test.each([
  [{}, 0],
  [{ calculations: 3 }, 3],
  [{ calculations: 3, files: 1 }, 3],
  [{ cards: 1, 'data-files': 3 }, 3],
  [{ cards: 2 }, 2],
])('the nightly script ends with the worst code of its lines: %j', async (codes, worst) => {
  expect(await endOf(codes)).toBe(worst);
});
