import { assumed } from './assumed.ts';

type LogStream = 'stdout' | 'stderr';

/** What a function's console wrote, as JSON values in order. */
export type CapturedLog = {
  /** Past the caps, it adds a single mark, nothing more, and returns `full`. */
  write(stream: LogStream, json: string): 'open' | 'full';
  entries(stream: LogStream): readonly unknown[];
};

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
