import { type LoopbackServer, startLoopbackServer } from '../../local-aws/services/loopback-server.ts';
import { signerOf } from '../../local-aws/signer.ts';

/** Starts a server that denies every request as AWS does when the caller's role does not allow it. */
export const startRefusing = (): Promise<LoopbackServer> =>
  startLoopbackServer((request, response) => {
    const { url: path = '/', headers, method } = request;
    const { by = '', service = '' } = signerOf(headers, path) ?? {};
    const action = String(headers['x-amz-target'] ?? `${method} ${path}`).replace(/^.*\./, '');
    const message = `User: arn:aws:sts::111122223333:assumed-role/${by} is not authorized to perform: ${service}:${action} on resource: ${path}`;
    request.resume();
    response.writeHead(service === 's3' ? 403 : 400, { 'x-amzn-errortype': 'AccessDeniedException' });
    response.end(
      service === 's3'
        ? `<Error><Code>AccessDenied</Code><Message>${message}</Message></Error>`
        : JSON.stringify({ __type: 'AccessDeniedException', message, Message: message }),
    );
  });
