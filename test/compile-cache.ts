import { join } from 'node:path';

/**
 * Node's setting for its compile cache, for each process that tests start: V8's compiled code, and sources without
 * types. A process that ends by itself leaves there what the next one need not compile again, up to three quarters of
 * its start. Entries are found by the content of a source, so they are never stale.
 */
export const compileCache = {
  NODE_COMPILE_CACHE: join(import.meta.dirname, '..', 'node_modules', '.cache', 'compiled-for-tests'),
} as const;

/** The environment variables of this process that a child process with other settings still needs. */
export const bareEnvironment = { PATH: process.env['PATH'] ?? '', ...compileCache };
