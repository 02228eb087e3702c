import { randomBytes } from 'node:crypto';
import { enginesOf } from '../../base/aws/engines.ts';

/** The SDK's environment variables for the engine that serves all other services. Throws if the run has no such engine. */
export function servicesEnvironment() {
  const { services } = enginesOf(process.env);
  if (services === undefined) throw new Error('expected an engine for the other services, got none');
  return {
    AWS_ENDPOINT_URL: services.endpoint,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'conformance',
    AWS_SECRET_ACCESS_KEY: 'conformance',
  };
}

/** A name that no other test uses: the engine is shared. */
export const uniqueName = (name: string): string => `${name}_${randomBytes(6).toString('hex')}`;
