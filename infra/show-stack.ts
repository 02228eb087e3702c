import { readFileSync } from 'node:fs';
import { resolveStack } from './resolve-stack.ts';

/*
 * `npm run stack -- FUNCTION [FILE]`: prints a log, or a stack out of it, with the places in the sources that its frames
 * stand for. Reads standard input without FILE. Run it at the commit that is deployed: the source maps are made from it.
 */

const STANDARD_INPUT = 0;

const [functionName, file] = process.argv.slice(2);

if (functionName === undefined) {
  console.error('expected npm run stack -- FUNCTION [FILE], with the folder of a function, such as snapshot');
  process.exit(2);
}
const { text, unknown } = resolveStack(readFileSync(file ?? STANDARD_INPUT, 'utf8'), functionName);
process.stdout.write(text);
if (unknown.length > 0) {
  console.error(
    `the bundle of ${functionName} has no ${unknown.join(', ')}: check out the commit that is deployed, and npm ci`,
  );
  process.exitCode = 1;
}
