import { SourceMap } from 'node:module';
import { join } from 'node:path';
import { type Bundle, mapsOf } from './bundles.ts';

export type ResolvedStack = {
  readonly text: string;
  /** Files that frames name but the bundle does not contain. */
  readonly unknown: readonly string[];
};

/**
 * Matches a position in a bundle's file, in any form: /var/task/index.mjs:1:2,
 * file:///var/task/index.mjs:1:2.
 */
const PLACE = /(?:file:\/\/)?[^\s()"]*?([\w-]+\.mjs):(\d+):(\d+)/g;

/**
 * Replaces each position in a function's bundle, in the text of a log, with its position in the sources. Escaped line
 * feeds become real ones.
 */
export function resolveStack(text: string, functionName: string): ResolvedStack {
  const mapOf = readMaps(mapsOf(functionName));
  const unknown = new Set<string>();
  const resolved = text.replaceAll('\\n', '\n').replaceAll(PLACE, (place, file, line, column) => {
    const map = mapOf(file);
    if (map === undefined) unknown.add(file);
    const origin = map?.findOrigin(Number(line), Number(column));
    if (origin === undefined || !('fileName' in origin)) return place;
    return `${join('bundle', origin.fileName)}:${origin.lineNumber}:${origin.columnNumber}`;
  });
  return { text: resolved, unknown: [...unknown] };
}

/** Reads the maps, each when it is first needed: together they have a megabyte. */
function readMaps(maps: Bundle): (file: string) => SourceMap | undefined {
  const read = new Map<string, SourceMap>();
  return (file) => {
    const bytes = maps[file];
    if (bytes === undefined) return undefined;
    const map = read.get(file) ?? new SourceMap(JSON.parse(Buffer.from(bytes).toString()));
    read.set(file, map);
    return map;
  };
}
