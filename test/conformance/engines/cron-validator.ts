import { join } from 'node:path';
import { byPip } from '../fetch/pip.ts';
import type { Engine } from './engine.ts';

const VERSION = '1.1.15';

/** Somebody else's reading of EventBridge's crons. It reads expressions, a line each. */
export const cronValidator: Engine = {
  name: 'aws-cron-expression-validator',
  version: VERSION,
  fetch: byPip(`aws-cron-expression-validator==${VERSION}`),
  start: ({ fetched }) => ({
    engines: {
      cronValidator: {
        command: [join(fetched, 'venv', 'bin', 'python'), join(import.meta.dirname, 'cron_validator.py')],
      },
    },
  }),
};
