#!/usr/bin/env node
import { existsSync } from 'node:fs';

// A checkout runs its sources as they are; the package has only what is built of them.
const [sources, built] = ['../lib/cli/', '../dist/lib/cli/'].map((path) => new URL(path, import.meta.url));
const folder = existsSync(new URL('bin.js', sources)) ? sources : built;

// First: an older Node could not even link the other.
await import(new URL('require-node.js', folder).href);
await import(new URL('bin.js', folder).href);
