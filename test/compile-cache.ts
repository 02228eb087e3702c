import { join } from 'node:path';

/**
 * Where V8's compiled code and the types that Node strips are cached, for each process that tests start: the setting of
 * Node for it. A process that ends by itself leaves there what the next one of its kind need not compile again, which is
 * up to three quarters of its start. Node looks entries up by the content of a source, so that they are never wrong.
 */
export const compileCache = {
  NODE_COMPILE_CACHE: join(import.meta.dirname, '..', 'node_modules', '.cache', 'compiled-for-tests'),
} as const;

/** The variables of this environment that a process with its own settings still needs. */
export const bareEnvironment = { PATH: process.env['PATH'] ?? '', ...compileCache };
