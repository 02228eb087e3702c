import { enableCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import './require-node.js';

// Types are stripped from the sources only once: later starts take half the time and less memory.
enableCompileCache();
// The young generation stays as large as loading has made it, 8 MB, and that of a snapshot as small as it starts: its
// garbage is large buffers, which are outside the heap, and a larger one only lets more of them pile up, a sixth of its
// memory. Where garbage is rows, a smaller one lets them grow old: the check of a file of jobs would take 50 MB more.
const keepYoungSmall = () => setFlagsFromString('--semi-space-growth-factor=1');
if (process.argv.includes('snapshot')) keepYoungSmall();
const { runCommandLine } = await import('./command-line.ts');
keepYoungSmall();

// Buffers count towards the limit at which V8 marks the whole heap, so a snapshot had it marked at every second page,
// step by step and in threads beside the compressor's: a fifth of its time. At once it is needed a quarter as often.
setFlagsFromString('--no-incremental-marking');
process.exitCode = await runCommandLine(process.argv.slice(2));
