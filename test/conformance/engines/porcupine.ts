import { hash } from 'node:crypto';
import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Engine } from './engine.ts';

const SOURCE = join(import.meta.dirname, 'porcupine');

const FILES = ['go.mod', 'go.sum', 'main.go', 'model.go'] as const;

const sources = await Promise.all(FILES.map((file) => readFile(join(SOURCE, file), 'utf8')));

/** A linearizability checker with a model of our rows. It reads histories from standard input. */
export const porcupine: Engine = {
  name: 'porcupine',
  // The version includes the model, which is compiled into the program.
  version: `1.3.1-${hash('sha256', sources.join('')).slice(0, 8)}`,
  async fetch({ folder, downloads, run }) {
    for (const file of FILES) await copyFile(join(SOURCE, file), join(folder, file));
    const environment = {
      GOPATH: downloads,
      GOCACHE: join(downloads, 'build'),
      // By default Go's module cache is read-only, and could not be removed.
      GOFLAGS: '-modcacherw -trimpath',
    };
    await run(['go', 'build', '-o', join('bin', 'histories'), '.'], { folder, environment });
  },
  start: ({ fetched }) => ({ engines: { porcupine: { command: [join(fetched, 'bin', 'histories')] } } }),
};
