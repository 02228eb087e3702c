import { compileCache } from '../compile-cache.ts';
import { runProgram } from '../run-program.ts';

/** Runs a script in a separate process to its end. */
export const runScript = (script: string) =>
  runProgram([process.execPath, '--input-type=module', '-e', script], { environment: compileCache });
