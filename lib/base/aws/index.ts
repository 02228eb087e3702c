/* AWS clients, their network, the meaning of their errors, and the metrics and traces of a process. */

export { systemReason } from '../faults.ts';
export { needClients, tokenClient } from '../optional-peer.ts';
export {
  type AwsEnvironment,
  awsClientConfig,
  queueEndpoint,
  withoutUnusedMiddleware,
} from './client-config.ts';
export {
  AwsError,
  asAwsError,
  CLOCK_ADVICE,
  entryError,
  isOfDisk,
  isPassing,
  kindOfFault,
  lastingFailure,
  readAwsFault,
  remedyOf,
  resources,
  ServiceError,
} from './fault.ts';
export {
  METRIC_NAMESPACE,
  type MeasureName,
  measureNames,
  type ProblemName,
  problemNames,
} from './metric-names.ts';
export { createHttpsAgent, MAX_IDLE_MS, type NetworkEnvironment, networkFaults, proxyOf } from './network.ts';
export { createInHand, currentIds, type InHand, traced, withIds } from './traced.ts';
