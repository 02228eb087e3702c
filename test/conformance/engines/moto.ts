import { join } from 'node:path';
import { byPip } from '../fetch/pip.ts';
import type { Engine } from './engine.ts';

const VERSION = '5.2.5';

/** Most services of AWS, in memory. Here it stands for the queues, and for those that no other engine has. */
export const moto: Engine = {
  name: 'moto',
  version: VERSION,
  fetch: byPip(`moto[server]==${VERSION}`),
  start: ({ fetched, port }) => ({
    // Not the script `moto_server`: it names the folder that it was installed into.
    command: [
      join(fetched, 'venv', 'bin', 'python'),
      ...['-m', 'moto.server', '-H', '127.0.0.1', '-p', String(port)],
    ],
    engines: {
      sqs: { endpoint: `http://127.0.0.1:${port}` },
      services: { endpoint: `http://127.0.0.1:${port}` },
    },
  }),
};
