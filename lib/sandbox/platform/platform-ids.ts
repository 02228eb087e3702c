import { codePackages } from './functions/packages.ts';
import type { PlatformState } from './state.ts';

/** The ids of what can be requested: nothing in the contract lists these. */
export type PlatformIds = {
  readonly fileSets: readonly string[];
  readonly datasets: readonly string[];
  readonly dataFiles: readonly string[];
  readonly functions: readonly {
    readonly packageId: string;
    readonly version: string;
    readonly functionName: string;
  }[];
};

export function platformIds({ fileSets, datasets, dataFileIds }: PlatformState): PlatformIds {
  return {
    fileSets: fileSets.map(({ id }) => id),
    datasets: datasets.map(({ id }) => id),
    dataFiles: dataFileIds,
    functions: codePackages.flatMap(({ id, versions }) =>
      versions
        .filter(({ released }) => released)
        .flatMap(({ version, functions }) =>
          functions.map(({ name }) => ({ packageId: id, version, functionName: name })),
        ),
    ),
  };
}
