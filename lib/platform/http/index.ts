/*
 * Everything that opens connections to the platform: clients with their methods, tokens and counters, and single HTTP
 * exchanges.
 */

export { operations, type Page, type PagesOptions } from '../client.ts';
export { countCalls, notifyAll } from '../events.ts';
export type { ConnectionPhase } from '../failure.ts';
export { createPlatform, openCalls, type PlatformOptions } from '../open-calls.ts';
export { callOutcome, probePlatform } from '../outage.ts';
export {
  fixedToken,
  openStoredToken,
  type SecretTokenOptions,
  secretToken,
  type TokenSource,
} from '../token.ts';
export { parseRetryAfter } from './error-body.ts';
export { createExchange } from './exchange.ts';
export { readAsJson } from './transport.ts';
