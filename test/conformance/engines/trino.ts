import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findJava } from '../runner/java.ts';
import type { Engine, Fetching } from './engine.ts';
import { byMavenArchive } from './fetch.ts';

const VERSION = '476';
const JAVA = 25;

/** Trino, on which Athena is based. The tests create a catalog that points to their tables. */
export const trino: Engine = {
  name: 'Trino',
  version: VERSION,
  java: JAVA,
  fetch: async (fetching) => {
    await byMavenArchive({ group: 'io.trino', artifact: 'trino-server', version: VERSION })(fetching);
    await removeOtherPlugins(fetching);
  },
  start: async ({ fetched, scratch, port }) => {
    const settings = join(scratch, 'config.properties');
    await writeFile(settings, settingsFor(fetched, port));
    return {
      command: [
        await findJava(JAVA),
        ...['-Xmx2G', '-Xss8M', '--add-modules=jdk.incubator.vector', '-Duser.timezone=UTC'],
        `-Dconfig=${settings}`,
        ...['-Dnode.environment=conformance', '-Dnode.id=conformance', `-Dnode.data-dir=${scratch}`],
        ...['-Dnode.internal-address=127.0.0.1', '-Dnode.bind-ip=127.0.0.1'],
        ...['-cp', join(fetched, 'lib', '*'), 'io.trino.server.TrinoServer'],
      ],
      startMs: 180_000,
      respondsAt: `http://127.0.0.1:${port}/v1/info`,
      engines: { trino: { endpoint: `http://127.0.0.1:${port}` } },
    };
  },
};

/** Removes the plugins that are not needed: they take two gigabytes. */
async function removeOtherPlugins({ folder }: Fetching): Promise<void> {
  for (const name of await readdir(join(folder, 'plugin')))
    if (name !== 'hive') await rm(join(folder, 'plugin', name), { recursive: true });
}

const settingsFor = (fetched: string, port: number): string => `coordinator=true
node-scheduler.include-coordinator=true
http-server.http.port=${port}
discovery.uri=http://127.0.0.1:${port}
query.max-memory=1GB
query.max-memory-per-node=1GB
memory.heap-headroom-per-node=400MB
http-server.log.enabled=false
plugin.dir=${join(fetched, 'plugin')}
catalog.management=dynamic
catalog.store=memory
`;
