import { refusal, startJsonServer, unknownOperation } from './json-server.ts';
import type { LoopbackServer } from './loopback-server.ts';

/** Starts a stand-in for Secrets Manager, which returns and changes the texts of secrets by ARN. */
export function startSecrets(given: Readonly<Record<string, string>>): Promise<LoopbackServer> {
  const texts = new Map(Object.entries(given));
  return startJsonServer((request) => {
    const { operation, body } = request;
    if (operation !== 'GetSecretValue' && operation !== 'PutSecretValue') return unknownOperation(request);
    const id = String(body['SecretId']);
    if (!texts.has(id)) return refusal('ResourceNotFoundException', `There is no secret ${id}.`);
    if (operation === 'PutSecretValue') texts.set(id, String(body['SecretString']));
    return { status: 200, body: { ARN: id, Name: id.split(':').at(-1), SecretString: texts.get(id) } };
  });
}

/** Starts a stand-in for Parameter Store: it returns SecureStrings by ARN, decrypted or not, and changes them by name. */
export function startParameters(given: Readonly<Record<string, string>>): Promise<LoopbackServer> {
  const texts = new Map(Object.entries(given));
  return startJsonServer((request) => {
    const { operation, body } = request;
    const { Name: name, Value: next, WithDecryption: isDecrypted = false, Overwrite: mayBeThere } = body;
    if (operation !== 'GetParameter' && operation !== 'PutParameter') return unknownOperation(request);
    const arn = [...texts.keys()].find((each) => each === name || each.endsWith(`:parameter${name}`));
    if (arn === undefined) return refusal('ParameterNotFound', `There is no parameter ${name}.`);
    if (operation === 'PutParameter') {
      if (mayBeThere !== true) return refusal('ParameterAlreadyExists', `${name} exists.`);
      texts.set(arn, String(next));
      return { status: 200, body: { Version: 2 } };
    }
    const text = texts.get(arn) ?? '';
    const Value = isDecrypted ? text : Buffer.from(text).toString('base64');
    return { status: 200, body: { Parameter: { ARN: arn, Type: 'SecureString', Value, Version: 1 } } };
  });
}
