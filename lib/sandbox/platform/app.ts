import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { deliver } from './http/deliver.ts';
import { createServe, type ServeOptions } from './http/serve-api.ts';
import { createOpenApi } from './openapi/openapi.ts';
import type { Operation } from './operations/operation.ts';
import { operations } from './operations/operations.ts';
import { type SandboxParts, sandboxRoutes } from './sandbox-routes.ts';

type Environment = { Bindings: Partial<HttpBindings> };

/** The routes: the contract's operations, and outside the contract `/openapi.json` and `/_sandbox/…`. */
export function createApp(parts: ServeOptions & SandboxParts): Hono<Environment> {
  const app = new Hono<Environment>();
  const serve = createServe(parts);
  const respond = async (context: Context<Environment>, operation: Operation | undefined) => {
    const request = context.req.raw;
    const delivery = await serve({ request, operation, path: { ...context.req.param() } });
    return deliver(delivery, request, context.env, parts.options);
  };
  for (const operation of operations) {
    const path = operation.endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1');
    app.all(path, (context) => respond(context, operation));
  }
  app.all('/api/*', (context) => respond(context, undefined));
  app.get('/openapi.json', (context) => context.json(createOpenApi(operations, parts.options.tokenHeader)));
  app.route('/', sandboxRoutes(parts));
  // An error thrown here stands for a broken connection; no other error is expected.
  app.onError((error) => {
    throw error;
  });
  return app;
}
