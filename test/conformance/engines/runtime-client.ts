import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Engine } from './engine.ts';

const VERSION = '4.0.2';

/**
 * Replaces the client's native part, which would have to be compiled: the two calls that send the response of an
 * invocation. Invocations are received by the client's JavaScript HTTP code
 * (`AWS_LAMBDA_NODEJS_USE_ALTERNATIVE_CLIENT_1`).
 */
const NATIVE_PART = `
const post = (path, body) =>
  void fetch('http://' + process.env.AWS_LAMBDA_RUNTIME_API + '/2018-06-01/runtime/invocation/' + path, { method: 'POST', body });
export const initializeClient = () => undefined;
export const done = (id, body) => post(id + '/response', body);
export const error = (id, body) => post(id + '/error', body);
`;

/** The client that runs handlers in Lambda's Node runtime. It replaces console methods and prints uncaught errors. */
export const runtimeClient: Engine = {
  name: 'Lambda’s Node runtime client',
  version: VERSION,
  async fetch({ folder, downloads, run }) {
    await run(['npm', 'pack', '--silent', '--pack-destination', downloads, `aws-lambda-ric@${VERSION}`]);
    const packed = join(downloads, `aws-lambda-ric-${VERSION}.tgz`);
    await run(['tar', '-xzf', packed, '-C', folder, '--strip-components', '1']);
    await writeFile(join(folder, 'rapid-client.node.js'), NATIVE_PART);
  },
  start: ({ fetched }) => ({
    engines: { runtimeClient: { command: [process.execPath, join(fetched, 'index.mjs')] } },
  }),
};
