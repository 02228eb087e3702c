import { codePackages } from '../../lib/sandbox/platform/functions/packages.ts';
import type { Sandbox } from '../../lib/sandbox/platform/start-platform.ts';

export type MixedJob = { readonly id: string; readonly type: string };

/**
 * Jobs of all types. Seven in ten run functions, each with its index as the first input. Each formula belongs to a
 * different calculation if the platform has at least a tenth as many calculations as jobs. `sharesTexts`: every third
 * text also occurs in other jobs.
 */
export function mixedJobs(
  count: number,
  platform: Sandbox,
  { sharesTexts = false } = {},
): readonly MixedJob[] {
  const calculationIds = [...platform.calculations()].map((line) => /"id":(\d+)/.exec(line)?.[1] ?? '');
  const { dataFiles } = platform.ids();
  return Array.from({ length: count }, (_, index) => {
    const common = { version: 1, id: `job-${index}` };
    if (index === 0) return { ...common, type: 'snapshot', source: 'data-files', ids: dataFiles };
    switch (index % 10) {
      case 7:
        return {
          ...common,
          type: 'score',
          texts: ['a', 'b', 'c'].map((id) => ({
            id,
            text: sharesTexts && id === 'a' ? `text ${index % 100}` : `text ${index} ${id}`,
          })),
        };
      case 8: {
        const calculationId = calculationIds[Math.floor(index / 10) % calculationIds.length];
        return { ...common, type: 'update-formula', calculationId, expression: `1 + ${index}` };
      }
      case 9:
        return { ...common, type: 'data-files', ids: dataFiles.slice(0, 5) };
      default:
        return {
          ...common,
          type: 'run-function',
          packageId: codePackages[0]?.id,
          packageVersion: '1.0.0',
          functionName: 'addNumbers',
          inputVariables: { first: index, second: 1 },
        };
    }
  });
}
