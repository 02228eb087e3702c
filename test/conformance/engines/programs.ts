import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Engines } from '../../base/aws/engines.ts';
import type { Engine } from './engine.ts';
import { byMaven, byPip } from './fetch.ts';

/* Programs that the tests start themselves, with one line per input, or a file. */

/** An engine that consists of Python packages, used through the Python that has them installed. */
const inPython = (packages: readonly string[], engines: (python: string) => Engines) =>
  ({
    fetch: byPip(...packages),
    start: ({ fetched }) => ({ engines: engines(join(fetched, 'venv', 'bin', 'python')) }),
  }) satisfies Partial<Engine>;

/** Starts cfn-lint: its script contains the path of its folder, and `python -m` does not support it. */
const MAIN = 'from cfnlint.runner import main; main()';

/** AWS's template linter, with the resource schemas of each region. */
export const cfnLint: Engine = {
  name: 'cfn-lint',
  version: '1.58.0',
  ...inPython(['cfn-lint==1.58.0'], (python) => ({ cfnLint: { command: [python, '-c', MAIN] } })),
};

/** An independent parser of EventBridge's cron expressions. It reads one expression a line. */
export const cronValidator: Engine = {
  name: 'aws-cron-expression-validator',
  version: '1.1.15',
  ...inPython(['aws-cron-expression-validator==1.1.15'], (python) => ({
    cronValidator: { command: [python, join(import.meta.dirname, 'cron_validator.py')] },
  })),
};

/** AWS's own matcher of event patterns, which EventBridge uses. It reads one pair of pattern and event a line. */
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

/** DuckDB, pandas and polars for Python, in pinned versions; 630 MB with their dependencies. */
export const pythonReaders: Engine = {
  name: 'Python readers',
  version: 'duckdb-2.0.0-pandas-3.1.1-polars-2.1.0',
  ...inPython(['duckdb==2.0.0', 'pandas==3.1.1', 'polars==2.1.0', 'pyarrow==26.0.1'], (python) => ({
    pythonReaders: { command: [python] },
  })),
};

/** The readers of events and metadata files of OpenLineage and DataHub: 150 MB with their dependencies. */
export const pythonCatalogs: Engine = {
  name: 'catalogs',
  version: 'openlineage-1.54.0-datahub-1.7.0',
  ...inPython(['openlineage-python==1.54.0', 'acryl-datahub==1.7.0'], (python) => ({
    pythonCatalogs: { command: [python] },
  })),
};

/** Spark in one process, from its Python package: a download of 430 MB. */
export const spark: Engine = {
  name: 'Spark',
  version: '4.0.1',
  java: 17,
  ...inPython(['pyspark==4.0.1'], (python) => ({ spark: { command: [python] } })),
};

/** An engine that is a program of this machine. It is not fetched; without it, the engine does not run. */
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
