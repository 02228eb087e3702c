import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Engine } from './engine.ts';
import { byGo } from './fetch.ts';

const VERSION = '1.8.0';
const user = { accessKeyId: 'conformance', secretAccessKey: 'conformance-secret' } as const;

/** S3 over a folder. */
export const versitygw: Engine = {
  name: 'versitygw',
  version: VERSION,
  fetch: byGo(`github.com/versity/versitygw/cmd/versitygw@v${VERSION}`),
  start: async ({ fetched, scratch, port }) => {
    const objects = join(scratch, 'objects');
    await mkdir(objects);
    return {
      command: [
        join(fetched, 'bin', 'versitygw'),
        ...['--port', `127.0.0.1:${port}`, '--quiet', 'posix', objects],
      ],
      environment: { ROOT_ACCESS_KEY: user.accessKeyId, ROOT_SECRET_KEY: user.secretAccessKey },
      engines: { s3: { endpoint: `http://127.0.0.1:${port}`, ...user, versioned: false } },
    };
  },
};
