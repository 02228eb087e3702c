import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Engine } from './engine.ts';
import { byMaven } from './fetch.ts';

const VERSION = '1.7.1';

/** An in-memory SQS. */
export const elasticMq: Engine = {
  name: 'ElasticMQ',
  version: VERSION,
  java: 17,
  fetch: byMaven({ group: 'org.elasticmq', artifact: 'elasticmq-server_3', version: VERSION }),
  start: async ({ fetched, scratch, port }) => {
    const settings = join(scratch, 'elasticmq.conf');
    await writeFile(settings, settingsFor(port));
    return {
      command: [
        'java',
        `-Dconfig.file=${settings}`,
        ...['-cp', join(fetched, 'lib', '*'), 'org.elasticmq.server.Main'],
      ],
      engines: { sqs: { endpoint: `http://127.0.0.1:${port}` } },
    };
  },
};

const settingsFor = (port: number): string => `include classpath("application.conf")
node-address { protocol = http, host = "127.0.0.1", port = ${port}, context-path = "" }
rest-sqs { enabled = true, bind-hostname = "127.0.0.1", bind-port = ${port}, sqs-limits = strict }
rest-stats { enabled = false }
`;
