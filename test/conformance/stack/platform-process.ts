import { startPlatform } from '../../../lib/sandbox/platform/start-platform.ts';

/*
 * The reference platform in a separate process. The stack calls it; nothing else of ours runs outside the stack. Its
 * options are the first argument, as JSON; it prints one line of JSON.
 */

const platform = await startPlatform(JSON.parse(process.argv[2] ?? '{}'));
console.log(
  JSON.stringify({ url: platform.url, token: platform.token, dataFiles: platform.ids().dataFiles }),
);
