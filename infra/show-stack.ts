import { existsSync, readFileSync } from 'node:fs';
import { functionNames } from './bundles.ts';
import { resolveStack } from './resolve-stack.ts';

/*
 * `npm run stack -- FUNCTION [FILE]`: prints a log or a stack trace with positions in the sources. Without FILE it
 * reads standard input. Run it at the deployed commit, since it builds the source maps from the sources.
 */

const STANDARD_INPUT = 0;

const [functionName, file] = process.argv.slice(2);

if (functionName === undefined || !functionNames().includes(functionName))
  refuse(`FUNCTION: expected one of ${functionNames().join(', ')}, got ${functionName ?? 'nothing'}`);
if (file !== undefined && !existsSync(file)) refuse(`FILE: ${file} does not exist`);
const { text, unknown } = resolveStack(readFileSync(file ?? STANDARD_INPUT, 'utf8'), functionName);
process.stdout.write(text);
if (unknown.length > 0) {
  console.error(
    `the bundle of ${functionName} has no ${unknown.join(', ')}: check out the deployed commit, and run npm ci`,
  );
  process.exitCode = 1;
}

function refuse(fault: string): never {
  console.error(`npm run stack -- FUNCTION [FILE]: ${fault}`);
  process.exit(2);
}
