import { nodes } from '../engines/nodes.ts';
import type { Suite } from './suite.ts';

/** The package as users have it: installed from the registry into an empty project. */
export const packaged: Suite = [
  { engines: [nodes], quick: true, files: ['test/package/package.conformance.ts'] },
];
