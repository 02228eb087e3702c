import { expect, test } from 'vitest';
import { runScript } from '../run-script.ts';

/** Starts dynalite, aborts a request halfway, sends another one, and prints the status of its response. */
async function cutARequest(fix: string) {
  const script = `
    import { once } from 'node:events';
    import { connect } from 'node:net';
    import dynalite from 'dynalite';
    import { tolerateAbortedRequests } from './test/local-aws/services/aborted-requests.ts';
    const server = dynalite();
    ${fix}
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
}

test('with the fix, dynalite continues after a request was cut off', async () => {
  const { out, code } = await cutARequest('tolerateAbortedRequests(server);');

  expect({ out, code }).toEqual({ out: '200\n', code: 0 });
});

test('without the fix, a cut-off request ends the process (if it does not, the fix is no longer needed)', async () => {
  const { err, code } = await cutARequest('');

  expect(code, 'dynalite now survives cut requests: delete test/local-aws/services/aborted-requests.ts').toBe(
    1,
  );
  expect(err).toContain('ECONNRESET');
});
