import { dirname, join } from 'node:path';
import type { Engine } from './engine.ts';
import { byPip } from './fetch.ts';

const VERSION = '1.5.33';

/** CloudFormation, and the services whose resources it creates. Lambda functions run as processes of this test's Node. */
export const miniStack: Engine = {
  name: 'MiniStack',
  version: VERSION,
  fetch: byPip(`ministack==${VERSION}`),
  start: ({ fetched, scratch, port }) => {
    const python = join(fetched, 'venv', 'bin', 'python');
    const endpoint = `http://127.0.0.1:${port}`;
    return {
      command: [python, join(import.meta.dirname, 'ministack_server.py'), String(port)],
      environment: {
        // The host in the URLs of queues.
        MINISTACK_HOST: '127.0.0.1',
        GATEWAY_PORT: String(port),
        PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
        TMPDIR: scratch,
        HOME: scratch,
        // Both services would listen on all addresses.
        IOT_MTLS_ENABLED: '0',
        SFTP_ENABLED: '0',
        LOG_LEVEL: 'WARNING',
        PYTHONDONTWRITEBYTECODE: '1',
      },
      respondsAt: `${endpoint}/_ministack/health`,
      engines: { miniStack: { endpoint, python } },
    };
  },
};
