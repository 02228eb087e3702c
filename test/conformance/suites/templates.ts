import { cfnLint } from '../engines/cfn-lint.ts';
import type { Suite } from './suite.ts';

/** The templates of several configurations, each in several regions. */
export const templates: Suite = [{ engines: [cfnLint], files: ['test/infra/template.conformance.ts'] }];
