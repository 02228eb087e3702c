/* Clients of AWS, the network between, and what their errors mean. */

export { type AwsEnvironment, awsClientConfig, lean, queueEndpoint } from './client-config.ts';
export { needClients, tokenClient } from './clients.ts';
export {
  AwsError,
  asAwsError,
  CLOCK_ADVICE,
  entryError,
  isOfDisk,
  isPassing,
  kindOfFault,
  lastingFailure,
  type Part,
  parts,
  readAwsFault,
  remedyOf,
  ServiceError,
  UNSENT_CODES,
} from './fault.ts';
export { createHttpsAgent, MAX_IDLE_MS, type NetworkEnvironment, networkFaults, proxyOf } from './network.ts';
