import { nodes } from '../engines/nodes.ts';
import type { Suite } from './suite.ts';

/** The package, installed from the registry into an empty project. Not quick: three Nodes install it. */
export const packaged: Suite = [
  {
    engines: [nodes],
    quick: false,
    files: ['test/package/package.conformance.ts'],
  },
];
