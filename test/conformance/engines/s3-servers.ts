import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Engine } from './engine.ts';
import { byGo } from './fetch.ts';

const user = { accessKeyId: 'conformance', secretAccessKey: 'conformance-secret' } as const;

const VERSION = '1.8.0';

/** An S3 server that stores objects in a folder. */
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

/** An S3 server with versioned buckets and with policies, which are set by its command-line program `mc`. */
export const minio: Engine = {
  name: 'MinIO',
  version: '2026-02-12',
  fetch: byGo(
    'github.com/minio/minio@v0.0.0-20260212201848-7aac2a2c5b7c',
    'github.com/minio/mc@v0.0.0-20250313080218-cf909e1063a9',
  ),
  start: async ({ fetched, scratch, port }) => {
    const objects = join(scratch, 'objects');
    await mkdir(objects);
    const bin = join(fetched, 'bin');
    return {
      command: [join(bin, 'minio'), 'server', '--address', `127.0.0.1:${port}`, objects],
      environment: {
        MINIO_ROOT_USER: user.accessKeyId,
        MINIO_ROOT_PASSWORD: user.secretAccessKey,
        MINIO_BROWSER: 'off',
      },
      respondsAt: `http://127.0.0.1:${port}/minio/health/ready`,
      engines: {
        s3: { endpoint: `http://127.0.0.1:${port}`, ...user, versioned: true },
        mc: { command: join(bin, 'mc') },
      },
    };
  },
};
