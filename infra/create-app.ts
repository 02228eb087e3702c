import { App, type AppProps, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { readConfig } from './config.ts';
import { homeOf } from './config-arns.ts';
import { PlatformSyncStack } from './stack.ts';

/**
 * The app: a stack for each instance in the context `platform-sync`, each checked by cdk-nag when it is synthesized.
 * Throws `ConfigError`.
 */
export function createApp(props: AppProps = {}): App {
  const app = new App(props);
  for (const instance of readConfig(app.node.tryGetContext('platform-sync'))) {
    new PlatformSyncStack(app, `platform-sync-${instance.name}`, instance, { env: homeOf(instance) });
  }
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  return app;
}
