import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Engine } from './engine.ts';

/** The Node of the checkout, the oldest that the package runs on, and the newest. */
const VERSIONS = ['24.21.0', '26.10.0'] as const;

/** The Nodes that the package must run on, by the npm package `node`. */
export const nodes: Engine = {
  name: 'Node',
  version: VERSIONS.join(', '),
  async fetch({ folder, run }) {
    for (const version of VERSIONS) {
      const project = join(folder, version);
      await mkdir(project);
      // Its script fetches the program for this machine.
      const manifest = { dependencies: { node: version }, allowScripts: { node: true } };
      await writeFile(join(project, 'package.json'), JSON.stringify(manifest));
      await run(['npm', 'install', '--silent', '--no-audit', '--no-fund'], { folder: project });
    }
  },
  // Into each of them the package is installed from the registry.
  reach: () =>
    promisify(execFile)('npm', ['view', `node@${VERSIONS[0]}`, 'version', '--fetch-timeout=30000']),
  start: ({ fetched }) => ({
    engines: {
      nodes: VERSIONS.map((version) => ({ version, path: join(fetched, version, 'node_modules', '.bin') })),
    },
  }),
};
