import { startJsonServer, unknownOperation } from './json-server.ts';
import type { LoopbackServer } from './loopback-server.ts';

/** A stand-in for the Parameter Store: it returns the texts of SecureStrings by ARN, as they were encrypted or not. */
export const startParameters = (texts: Readonly<Record<string, string>>): Promise<LoopbackServer> =>
  startJsonServer((request) => {
    if (request.operation !== 'GetParameter') return unknownOperation(request);
    const { Name, WithDecryption: isDecrypted = false } = request.body;
    const name = String(Name);
    const text = texts[name];
    if (text === undefined)
      return { status: 400, error: 'ParameterNotFound', message: `There is no parameter ${name}.` };
    const Value = isDecrypted ? text : Buffer.from(text).toString('base64');
    return { status: 200, body: { Parameter: { ARN: name, Type: 'SecureString', Value, Version: 1 } } };
  });
