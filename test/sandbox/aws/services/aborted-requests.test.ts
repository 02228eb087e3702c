import { expect, test } from 'vitest';
import { runScript } from '../run-script.ts';

/** Starts dynalite, cuts a request of it in the middle, asks it again, and writes the answer's status. */
const cutARequest = async (repair: string) => {
  const script = `
    import { once } from 'node:events';
    import { connect } from 'node:net';
    import dynalite from 'dynalite';
    import { tolerateAbortedRequests } from './lib/sandbox/aws/services/aborted-requests.ts';
    const server = dynalite();
    ${repair}
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address();
    const client = connect(port, '127.0.0.1');
    client.write('POST / HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Length: 100\\r\\n\\r\\n{');
    const [request] = await once(server, 'request');
    client.resetAndDestroy();
    await new Promise((resolve) => request.on('close', resolve));
    console.log((await fetch('http://127.0.0.1:' + port)).status);
    process.exit();`;
  return runScript(script);
};

test('with the repair, dynalite goes on after a request was cut', async () => {
  const { out, code } = await cutARequest('tolerateAbortedRequests(server);');

  expect({ out, code }).toEqual({ out: '200\n', code: 0 });
});

test('without the repair, a cut request ends the process, or the repair has done its time', async () => {
  const { err, code } = await cutARequest('');

  expect(
    code,
    'dynalite now outlives cut requests: delete lib/sandbox/aws/services/aborted-requests.ts',
  ).toBe(1);
  expect(err).toContain('ECONNRESET');
});
