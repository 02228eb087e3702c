import { join } from 'node:path';
import { byPip } from '../fetch/pip.ts';
import type { Engine } from './engine.ts';

const VERSION = '1.58.0';

/** Its script names the folder in which it was installed, and `python -m` does not know it. */
const MAIN = 'from cfnlint.runner import main; main()';

/** AWS's linter of templates, with the schemas of resources in each region. */
export const cfnLint: Engine = {
  name: 'cfn-lint',
  version: VERSION,
  fetch: byPip(`cfn-lint==${VERSION}`),
  start: ({ fetched }) => ({
    engines: { cfnLint: { command: [join(fetched, 'venv', 'bin', 'python'), '-c', MAIN] } },
  }),
};
