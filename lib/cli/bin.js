#!/usr/bin/env node
import { enableCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import './require-node.js';

// Later starts take half the time and less memory: the sources are stripped of their types once.
enableCompileCache();
const { runCommandLine } = await import('./command-line.ts');

// From here on the young generation stays as large as loading has made it. The garbage of commands is large buffers,
// which do not lie in the heap: one that grew to 64 MB would only let more of them pile up. This saves a quarter of a
// snapshot's memory. V8 reads the flag whenever it would grow.
setFlagsFromString('--semi-space-growth-factor=1');
process.exitCode = await runCommandLine(process.argv.slice(2));
