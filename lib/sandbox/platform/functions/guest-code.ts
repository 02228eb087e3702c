/**
 * The JavaScript that runs before a function, inside its interpreter. It evaluates to
 * `(writeLog: (stream, json) => 'open' | 'full') => (fn, argumentsJson: string) => Promise<string | undefined>`:
 * given where logs go, it sets up `console` and returns a caller. The caller's promise resolves to the function's result
 * as JSON, or to undefined if the function returned undefined. It uses its own references: a function that replaces a
 * global changes nothing here.
 */
export const GUEST_CODE = `(writeLog) => {
  const { parse, stringify } = JSON;
  const { TypeError, Error, String } = globalThis;

  const jsonOf = (value) => {
    try {
      return value instanceof Error ? undefined : stringify(value);
    } catch {}
  };
  const textOf = (value) => {
    try {
      return String(value);
    } catch {
      return '[unprintable]';
    }
  };
  const toJson = (value) => jsonOf(value) ?? stringify(textOf(value));
  const toText = (value) => (typeof value === 'string' ? value : (jsonOf(value) ?? textOf(value)));
  const logTo = (stream) => {
    let state = 'open';
    return (...values) => {
      if (state === 'full') return;
      state = writeLog(stream, values.length === 1 ? toJson(values[0]) : stringify(values.map(toText).join(' ')));
    };
  };
  const [out, err] = [logTo('stdout'), logTo('stderr')];
  globalThis.console = { log: out, info: out, debug: out, warn: err, error: err };

  return async (fn, argumentsJson) => {
    const value = await fn(...parse(argumentsJson));
    if (value === undefined) return undefined;
    const json = stringify(value);
    if (json === undefined) throw new TypeError('a ' + typeof value + ' cannot be a result');
    return json;
  };
}`;
