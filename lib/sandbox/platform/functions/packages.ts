import { analyticsToolkit } from './analytics-toolkit.ts';
import type { CodePackage } from './code-package.ts';
import { runtimeTrials } from './runtime-trials.ts';

/** The code packages of the reference platform; constant, so that ids and functions can be named in docs and tests. */
export const codePackages: readonly CodePackage[] = [analyticsToolkit, runtimeTrials];
