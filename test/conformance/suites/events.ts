import { cronValidator } from '../engines/cron-validator.ts';
import { eventRuler } from '../engines/event-ruler.ts';
import type { Suite } from './suite.ts';

/** What synth accepts as patterns and crons, and which events match. */
export const events: Suite = [
  { engines: [eventRuler], files: ['test/infra/event-pattern/event-pattern.conformance.ts'] },
  { engines: [cronValidator], files: ['test/infra/cron.conformance.ts'] },
];
