import { enableCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import './require-node.js';

// The types are stripped from the sources only once, so later starts take half the time and less memory.
enableCompileCache();
// Keeps V8's young generation at its current size. A snapshot does this from the start: its garbage is large buffers
// outside the heap, and with a larger young generation more of them pile up (a sixth of its memory). Other commands do
// this after loading, when the young generation has 8 MB: their garbage is rows, which with less room would be moved to
// the old generation (50 MB more to check a file of jobs).
const keepYoungGeneration = () => setFlagsFromString('--semi-space-growth-factor=1');
if (process.argv.includes('snapshot')) keepYoungGeneration();
const { runCommandLine } = await import('./command-line.ts');
keepYoungGeneration();

// Without incremental marking, V8 marks the whole heap a quarter as often. Buffers count towards V8's limit, so a
// snapshot would otherwise mark the heap at every second page, in threads that compete with the compressor's: a
// fifth of its time.
setFlagsFromString('--no-incremental-marking');
process.exitCode = await runCommandLine(process.argv.slice(2));
