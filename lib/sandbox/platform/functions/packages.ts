import { analyticsToolkit } from './analytics-toolkit.ts';
import type { CodePackage } from './code-package.ts';
import { runtimeTrials } from './runtime-trials.ts';

/** The code packages of the reference platform; constant, so that docs and tests can name their ids and functions. */
export const codePackages: readonly CodePackage[] = [analyticsToolkit, runtimeTrials];
