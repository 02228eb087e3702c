import { startPlatform } from '../../../lib/sandbox/platform/start-platform.ts';

/*
 * The reference platform as a process of its own: what the stack calls, and all of ours that runs beside it. Its
 * options are the first argument, as JSON; it prints one line of JSON.
 */

const platform = await startPlatform(JSON.parse(process.argv[2] ?? '{}'));
console.log(
  JSON.stringify({ url: platform.url, token: platform.token, dataFiles: platform.ids().dataFiles }),
);
