import { refusal, startJsonServer, unknownOperation } from './json-server.ts';
import type { LoopbackServer } from './loopback-server.ts';

/** A stand-in for Secrets Manager: it returns the texts of secrets by ARN. */
export const startSecrets = (texts: Readonly<Record<string, string>>): Promise<LoopbackServer> =>
  startJsonServer((request) => {
    if (request.operation !== 'GetSecretValue') return unknownOperation(request);
    const id = String(request.body['SecretId']);
    const secret = texts[id];
    return secret === undefined
      ? refusal('ResourceNotFoundException', `There is no secret ${id}.`)
      : { status: 200, body: { ARN: id, Name: id.split(':').at(-1), SecretString: secret } };
  });

/** A stand-in for the Parameter Store: it returns the texts of SecureStrings by ARN, as they were encrypted or not. */
export const startParameters = (texts: Readonly<Record<string, string>>): Promise<LoopbackServer> =>
  startJsonServer((request) => {
    if (request.operation !== 'GetParameter') return unknownOperation(request);
    const { Name, WithDecryption: isDecrypted = false } = request.body;
    const name = String(Name);
    const text = texts[name];
    if (text === undefined) return refusal('ParameterNotFound', `There is no parameter ${name}.`);
    const Value = isDecrypted ? text : Buffer.from(text).toString('base64');
    return { status: 200, body: { Parameter: { ARN: name, Type: 'SecureString', Value, Version: 1 } } };
  });
