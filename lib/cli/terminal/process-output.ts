import { fstatSync, writeFileSync } from 'node:fs';
import { isatty } from 'node:tty';
import { systemReason } from '../../base/index.ts';

/** Why what a command prints goes nowhere. */
export type OutputFault =
  /** Whoever read it is gone: a pipe or a terminal was closed. */
  | { readonly kind: 'closed' }
  /** It cannot be stored, such as on a full disk; `reason` in words. */
  | { readonly kind: 'lost'; readonly reason: string };

/** The reason of a stop: nobody can have what the command prints. */
export class OutputError extends Error {
  override readonly name = 'OutputError';
  readonly fault: OutputFault;

  constructor(fault: OutputFault) {
    super(fault.kind === 'closed' ? 'its output was closed' : `its output is lost: ${fault.reason}`);
    this.fault = fault;
  }
}

/**
 * Writes texts to an output of this process until one fails, and reports that once; it never throws. A file is written
 * here: Node's stream for files takes a part of a text that still fits on a full disk for the whole of it.
 */
export function createOutput(
  stream: NodeJS.WriteStream & { readonly fd: number },
  onFault: (fault: OutputFault) => void,
): (text: string) => void {
  let isBroken = false;
  const broken = (fault: OutputFault) => {
    if (!isBroken) onFault(fault);
    isBroken = true;
  };
  // Without a listener Node would end the process, with a stack. What reads a pipe or a terminal can only go away.
  stream.on('error', () => broken({ kind: 'closed' }));
  const isFile = isStored(stream.fd);
  return (text) => {
    if (isBroken) return;
    if (!isFile) stream.write(text);
    else
      try {
        writeFileSync(stream.fd, text);
      } catch (error) {
        broken({ kind: 'lost', reason: systemReason(error) });
      }
  };
}

/** Neither a pipe, a socket nor a terminal. */
function isStored(fd: number): boolean {
  const stats = fstatSync(fd);
  return !stats.isFIFO() && !stats.isSocket() && !isatty(fd);
}
