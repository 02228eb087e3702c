import { SourceMap } from 'node:module';
import { join } from 'node:path';
import { type Bundle, mapsOf } from './bundles.ts';

/** A log or a stack trace with positions in the sources. */
export type ResolvedStack = {
  readonly text: string;
  /** Files in stack frames that the bundle does not contain. */
  readonly unknown: readonly string[];
};

/** Matches a position in a bundle's file, such as /var/task/index.mjs:1:2 or file:///var/task/index.mjs:1:2. */
const POSITION = /(?:file:\/\/)?[^\s()"]*?([\w-]+\.mjs):(\d+):(\d+)/g;

/** Replaces positions in a function's bundle by positions in the sources. Escaped line feeds become real line feeds. */
export function resolveStack(text: string, functionName: string): ResolvedStack {
  const mapOf = readMaps(mapsOf(functionName));
  const unknown = new Set<string>();
  const resolved = text.replaceAll('\\n', '\n').replaceAll(POSITION, (position, file, line, column) => {
    const map = mapOf(file);
    if (map === undefined) unknown.add(file);
    const origin = map?.findOrigin(Number(line), Number(column));
    if (origin === undefined || !('fileName' in origin)) return position;
    return `${join('bundle', origin.fileName)}:${origin.lineNumber}:${origin.columnNumber}`;
  });
  return { text: resolved, unknown: [...unknown] };
}

/** Creates a function that parses a map when it is first needed, since all maps together have a megabyte. */
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
