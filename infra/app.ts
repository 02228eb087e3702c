import { ConfigError } from './config.ts';
import { createApp } from './create-app.ts';

try {
  createApp().synth();
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
