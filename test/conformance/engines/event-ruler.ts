import { join } from 'node:path';
import { byMaven } from '../fetch/maven.ts';
import type { Engine } from './engine.ts';

const VERSION = '2.1.0';

/** AWS's own matcher of event patterns, the one in EventBridge. It reads pairs of pattern and event, a line each. */
export const eventRuler: Engine = {
  name: 'Event Ruler',
  version: VERSION,
  java: 17,
  fetch: byMaven({ group: 'software.amazon.event.ruler', artifact: 'event-ruler', version: VERSION }),
  start: ({ fetched }) => ({
    engines: {
      eventRuler: {
        command: [
          'java',
          ...['-cp', join(fetched, 'lib', '*'), join(import.meta.dirname, 'EventRuler.java')],
        ],
      },
    },
  }),
};
