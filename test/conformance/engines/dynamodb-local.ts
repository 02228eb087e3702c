import { join } from 'node:path';
import { byMaven } from '../fetch/maven.ts';
import type { Engine } from './engine.ts';

const VERSION = '2.6.1';

/** AWS's own DynamoDB for a laptop. It holds a database for each access key. */
export const dynamoDbLocal: Engine = {
  name: 'DynamoDB Local',
  version: VERSION,
  java: 17,
  fetch: byMaven({ group: 'com.amazonaws', artifact: 'DynamoDBLocal', version: VERSION }),
  start: ({ fetched, port }) => ({
    command: [
      'java',
      `-Djava.library.path=${join(fetched, 'lib')}`,
      ...['-cp', join(fetched, 'lib', '*'), join(import.meta.dirname, 'DynamoDbLocal.java')],
      ...['-inMemory', '-disableTelemetry', '-port', String(port)],
    ],
    engines: { dynamoDb: { endpoint: `http://127.0.0.1:${port}` } },
  }),
};
