#!/usr/bin/env node
import './require-node.js';

const { runCommandLine } = await import('./command-line.ts');
process.exitCode = await runCommandLine(process.argv.slice(2));
