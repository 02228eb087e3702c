import { enableCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import './require-node.js';

// The types are stripped from the sources only once, so later starts take half the time and less memory.
enableCompileCache();
// Keeps V8's young generation at its current size. A snapshot does so from the start: its garbage is large buffers outside
// the heap, and with a larger young generation more of them pile up, a sixth of its memory. Other commands do so after
// loading, at 8 MB: their garbage is rows, which with less room would grow old (50 MB more to check a file of jobs).
const keepYoungGeneration = () => setFlagsFromString('--semi-space-growth-factor=1');
if (process.argv.includes('snapshot')) keepYoungGeneration();
const { runCommandLine } = await import('./command-line.ts');
keepYoungGeneration();

// Without incremental marking, V8 marks the whole heap a quarter as often. Buffers count towards its limit, so a snapshot
// would mark the heap at every second page, in threads beside the compressor's: a fifth of its time.
setFlagsFromString('--no-incremental-marking');
process.exitCode = await runCommandLine(process.argv.slice(2));
