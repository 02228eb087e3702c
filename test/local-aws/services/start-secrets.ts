import { startJsonServer, unknownOperation } from './json-server.ts';
import type { LoopbackServer } from './loopback-server.ts';

/** A stand-in for Secrets Manager: it returns the texts of secrets by ARN. */
export const startSecrets = (texts: Readonly<Record<string, string>>): Promise<LoopbackServer> =>
  startJsonServer((request) => {
    if (request.operation !== 'GetSecretValue') return unknownOperation(request);
    const id = String(request.body['SecretId']);
    const secret = texts[id];
    return secret === undefined
      ? { status: 400, error: 'ResourceNotFoundException', message: `There is no secret ${id}.` }
      : { status: 200, body: { ARN: id, Name: id.split(':').at(-1), SecretString: secret } };
  });
