import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Engines } from '../../base/aws/engines.ts';
import type { Engine } from './engine.ts';
import { byMaven, byPip } from './fetch.ts';

/* Programs that the tests start themselves, with a line each or a file. */

/** What packages of Python stand for, by the Python that has them. */
const inPython = (packages: readonly string[], engines: (python: string) => Engines) =>
  ({
    fetch: byPip(...packages),
    start: ({ fetched }) => ({ engines: engines(join(fetched, 'venv', 'bin', 'python')) }),
  }) satisfies Partial<Engine>;

/** Its script names the folder in which it was installed, and `python -m` does not know it. */
const MAIN = 'from cfnlint.runner import main; main()';

/** AWS's linter of templates, with the schemas of resources in each region. */
export const cfnLint: Engine = {
  name: 'cfn-lint',
  version: '1.58.0',
  ...inPython(['cfn-lint==1.58.0'], (python) => ({ cfnLint: { command: [python, '-c', MAIN] } })),
};

/** Somebody else's reading of EventBridge's crons. It reads expressions, a line each. */
export const cronValidator: Engine = {
  name: 'aws-cron-expression-validator',
  version: '1.1.15',
  ...inPython(['aws-cron-expression-validator==1.1.15'], (python) => ({
    cronValidator: { command: [python, join(import.meta.dirname, 'cron_validator.py')] },
  })),
};

/** AWS's own matcher of event patterns, the one in EventBridge. It reads pairs of pattern and event, a line each. */
export const eventRuler: Engine = {
  name: 'Event Ruler',
  version: '2.1.0',
  java: 17,
  fetch: byMaven({ group: 'software.amazon.event.ruler', artifact: 'event-ruler', version: '2.1.0' }),
  start: ({ fetched }) => ({
    engines: {
      eventRuler: {
        command: [
          'java',
          ...['-cp', join(fetched, 'lib', '*'), join(import.meta.dirname, 'EventRuler.java')],
        ],
      },
    },
  }),
};

/** DuckDB, pandas and polars in Python, each of a fixed version; 630 MB with what they need. */
export const pythonReaders: Engine = {
  name: 'Python readers',
  version: 'duckdb-2.0.0-pandas-3.1.1-polars-2.1.0',
  ...inPython(['duckdb==2.0.0', 'pandas==3.1.1', 'polars==2.1.0', 'pyarrow==26.0.1'], (python) => ({
    pythonReaders: { command: [python] },
  })),
};

/** What OpenLineage and DataHub read events and metadata files with: 150 MB with what they need. */
export const pythonCatalogs: Engine = {
  name: 'catalogs',
  version: 'openlineage-1.54.0-datahub-1.7.0',
  ...inPython(['openlineage-python==1.54.0', 'acryl-datahub==1.7.0'], (python) => ({
    pythonCatalogs: { command: [python] },
  })),
};

/** Spark in one process, by its package for Python: 430 MB to download. */
export const spark: Engine = {
  name: 'Spark',
  version: '4.0.1',
  java: 17,
  ...inPython(['pyspark==4.0.1'], (python) => ({ spark: { command: [python] } })),
};

/** A program that this machine has, or has not: nothing is fetched. */
const installed = (program: string, advice: string) =>
  ({
    version: 'as installed',
    fetch: async () => undefined,
    async reach() {
      if (spawnSync(program, ['--version']).error !== undefined)
        throw new Error(`${program} is not installed: ${advice}`);
    },
  }) satisfies Partial<Engine>;

export const pythonCsv: Engine = {
  name: 'Python csv',
  ...installed('python3', 'apt-get install python3'),
  start: () => ({ engines: { pythonCsv: { command: ['python3'] } } }),
};

export const libreOffice: Engine = {
  name: 'LibreOffice',
  ...installed('soffice', 'apt-get install --no-install-recommends libreoffice-calc'),
  start: () => ({ engines: { libreOffice: { command: ['soffice'] } } }),
};
