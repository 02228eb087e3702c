import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { folderOfAll } from '../folder-of-each.ts';

/* Checks what an editor shows for the construct's props: the declarations of the package, as the compiler writes them. */

const dist = folderOfAll();
const TSC = resolve('node_modules', 'typescript', 'bin', 'tsc');

/** The members of each object type of fields, and whether each has a docstring. */
function* membersIn(declarations: string): Generator<readonly [name: string, hasWords: boolean]> {
  for (const [, fields, source = '', body = ''] of declarations.matchAll(
    /^(?:declare const (\w*[fF]ields|timing): |export declare const \w+: .*?SourceDefinition<"([\w-]+)", )\{\n(.*?)^\}/gms,
  )) {
    const lines = body.split('\n');
    for (const [at, line] of lines.entries()) {
      const [, name] = /^ {4}(?:readonly )?'?"?([\w-]+)'?"?\??: /.exec(line) ?? [];
      if (name !== undefined) yield [`${fields ?? source}.${name}`, /\*\/$/.test(lines[at - 1] ?? '')];
    }
  }
}

test('each prop of the construct has a docstring in the declarations, at any depth', () => {
  const argv = [TSC, '-p', 'build', '--outDir', dist, '--emitDeclarationOnly'];
  const { status, stdout } = spawnSync(process.execPath, argv, { encoding: 'utf8' });
  const schemas = readFileSync(join(dist, 'infra', 'config-schema.d.ts'), 'utf8');
  const [, instance = ''] = /^declare const instanceFields: \{\n(.*?)^\};/ms.exec(schemas) ?? [];

  const files = ['infra/*.d.ts', 'lib/snapshot/sources/*/definition.d.ts'].map((glob) => join(dist, glob));
  const members = globSync(files).flatMap((file) => [...membersIn(readFileSync(file, 'utf8'))]);

  expect(`${status} ${stdout}`).toBe('0 ');
  expect(members.length).toBeGreaterThan(90);
  expect(members.map(([name]) => name)).toEqual(
    expect.arrayContaining(['calculations.filters', 'files.where']),
  );
  expect(members.filter(([, hasWords]) => !hasWords).map(([name]) => name)).toEqual([]);
  // An expanded object type has lost the docstrings of its members. Only schedules, which are documented by their
  // source's request, may be expanded.
  expect(instance.match(/^ {4}\w+: .*ZodMiniObject<\{/gm)).toEqual([
    expect.stringMatching(/^ {4}schedules: /),
  ]);
}, 60_000);
