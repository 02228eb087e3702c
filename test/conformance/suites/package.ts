import { nodes } from '../engines/nodes.ts';
import type { Suite } from './suite.ts';

/**
 * What users try first: the package, installed from the registry into an empty project, and the tour. Not quick: three
 * Nodes install the package, and the tour takes half a minute of both cores.
 */
export const packaged: Suite = [
  {
    engines: [nodes],
    quick: false,
    files: ['test/package/package.conformance.ts', 'test/cli/tour.conformance.ts'],
  },
];
