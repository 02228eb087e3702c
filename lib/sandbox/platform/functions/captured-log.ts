import { assumed } from './assumed.ts';

/** The two streams that a function's console writes to. */
type LogStream = 'stdout' | 'stderr';

/** What a function's console wrote, as JSON values in order. */
export type CapturedLog = {
  /** Adds one entry, given as JSON text. Past the caps, it adds a single mark, nothing more, and returns `full`. */
  write(stream: LogStream, json: string): 'open' | 'full';
  /** The entries of a stream so far. */
  entries(stream: LogStream): readonly unknown[];
};

/** An empty log; each stream is capped by count and size (`assumed.logEntries`, `assumed.logCharacters`). */
export function createCapturedLog(): CapturedLog {
  const streams = { stdout: createStream(), stderr: createStream() };
  return {
    write: (stream, json) => streams[stream].write(json),
    entries: (stream) => streams[stream].entries,
  };
}

function createStream() {
  const entries: unknown[] = [];
  let characters = 0;
  let cut = false;

  const write = (json: string) => {
    if (cut) return 'full';
    characters += json.length;
    cut = entries.length >= assumed.logEntries || characters > assumed.logCharacters;
    entries.push(cut ? assumed.logCutMark : JSON.parse(json));
    return cut ? 'full' : 'open';
  };
  return { entries, write };
}
