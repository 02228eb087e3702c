import { join } from 'node:path';
import type { Engines } from '../../base/aws/engines.ts';
import type { Engine } from './engine.ts';
import { byPip } from './fetch.ts';

const VERSION = '5.2.5';

// The script `moto_server` would not work: it contains the path of the folder that it was installed into.
const SERVER = ['-m', 'moto.server'] as const;

/** The server with one thread: with several, two concurrent writers can both find that the object does not exist. */
const ONE_AT_A_TIME = [
  '-c',
  'from moto import server; ' +
    'run = server.run_simple; server.run_simple = lambda *a, **k: run(*a, **{**k, "threaded": False}); server.main()',
] as const;

/** Most AWS services, in memory; the suites use some of them. */
const motoAs = (main: readonly string[], engines: (endpoint: string) => Engines): Engine => ({
  name: 'moto',
  version: VERSION,
  fetch: byPip(`moto[server]==${VERSION}`),
  start: ({ fetched, port }) => ({
    command: [join(fetched, 'venv', 'bin', 'python'), ...main, ...['-H', '127.0.0.1', '-p', String(port)]],
    engines: engines(`http://127.0.0.1:${port}`),
  }),
});

/** moto as SQS, and as the services that no other engine has. */
export const moto = motoAs(SERVER, (endpoint) => ({ sqs: { endpoint }, services: { endpoint } }));

const user = { accessKeyId: 'conformance', secretAccessKey: 'conformance-secret' } as const;

/** moto as S3: less strict than a dedicated S3 server, but quick to fetch. */
export const motoObjects = motoAs(ONE_AT_A_TIME, (endpoint) => ({
  s3: { endpoint, ...user, versioned: false },
}));
