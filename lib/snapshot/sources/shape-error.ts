import { PlatformError } from '../../platform/platform-error.ts';

/** The error for a response that lacks what the contract requires; `fault` names the record and the field. */
export function shapeError(operation: string, about: string, fault: string): PlatformError {
  return new PlatformError({ kind: 'shape', faults: [fault] }, { operation, about, attempts: 1 });
}
