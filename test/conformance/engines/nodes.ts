import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Engine } from './engine.ts';

/** The Node of the checkout, the oldest that the package runs on, and the newest. */
const VERSIONS = ['24.21.0', '26.10.0'] as const;

/** The versions of Node that the package must run on, installed by the npm package `node`. */
export const nodes: Engine = {
  name: 'Node',
  version: VERSIONS.join(', '),
  async fetch({ folder, run }) {
    for (const version of VERSIONS) {
      const project = join(folder, version);
      await mkdir(project);
      // The package's install script fetches the program for this machine.
      const manifest = { dependencies: { node: version }, allowScripts: { node: true } };
      await writeFile(join(project, 'package.json'), JSON.stringify(manifest));
      await run(['npm', 'install', '--silent', '--no-audit', '--no-fund'], { folder: project });
    }
  },
  // With each version, the tests install the package from the registry.
  reach: () =>
    promisify(execFile)('npm', ['view', `node@${VERSIONS[0]}`, 'version', '--fetch-timeout=30000']),
  start: ({ fetched }) => ({
    engines: {
      nodes: VERSIONS.map((version) => ({ version, path: join(fetched, version, 'node_modules', '.bin') })),
    },
  }),
};
