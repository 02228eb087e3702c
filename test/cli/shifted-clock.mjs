/* Preloaded: `Date` is off by CLOCK_OFF_DAYS, and the name of the host is OTHER_HOST if that is set. */

import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';

const RealDate = Date;
const offMs = Number(process.env.CLOCK_OFF_DAYS ?? 0) * 86_400_000;
const now = () => RealDate.now() + offMs;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, given, as) => Reflect.construct(target, given.length === 0 ? [now()] : given, as),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});

if (process.env.OTHER_HOST !== undefined) {
  const other = process.env.OTHER_HOST;
  os.hostname = () => other;
  syncBuiltinESMExports();
}
