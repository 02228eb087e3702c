import { nodes } from '../engines/nodes.ts';
import type { Suite } from './suite.ts';

/** The package, installed from the registry into an empty project. Three Nodes install it. */
export const packaged: Suite = [
  {
    engines: [nodes],
    files: ['test/package/package.conformance.ts'],
  },
];
