import { moto } from '../engines/moto.ts';
import type { Suite } from './suite.ts';

/** The token's secret, the events of jobs that ended, the messages of event rules, and the partitions of published runs. */
export const services: Suite = [
  {
    engines: [moto],
    files: [
      'test/conformance/services/token-secret.conformance.ts',
      'test/conformance/services/finished-events.conformance.ts',
      'test/infra/event-rules.conformance.ts',
      'test/conformance/services/partitions.conformance.ts',
    ],
  },
];
