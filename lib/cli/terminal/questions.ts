import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { UsageError } from '../errors/usage-error.ts';
import type { Dialog, Terminal } from './terminal.ts';

/** Asks questions at a terminal, one after the other. */
type Questions = Disposable & {
  /**
   * Returns the typed answer, or `byDefault` for an empty line; without a default, asks again. Undefined after Ctrl-C or
   * Ctrl-D.
   */
  ask(
    question: string,
    byDefault?: string,
    options?: { readonly isHidden?: boolean },
  ): Promise<string | undefined>;
};

export function createQuestions({ input, output }: Dialog, signal: AbortSignal): Questions {
  let isHidden = false;
  const echo = new Writable({
    write(chunk, encoding, done) {
      if (!isHidden) output.write(chunk, encoding);
      done();
    },
  });
  const lines = createInterface({
    input,
    output: echo,
    terminal: 'isTTY' in output && output.isTTY === true,
  });
  const over = new AbortController();
  lines.once('SIGINT', () => lines.close());
  lines.once('close', () => over.abort());
  const ends = AbortSignal.any([signal, over.signal]);
  return {
    async ask(question, byDefault, options = {}) {
      const words = byDefault === undefined ? `${question}: ` : `${question} [${byDefault}]: `;
      while (!ends.aborted) {
        const asked = lines.question(words, { signal: ends });
        isHidden = options.isHidden === true;
        const typed = (await asked.catch(() => '')).trim() || byDefault;
        if (isHidden) output.write('\n');
        isHidden = false;
        if (typed !== undefined && !ends.aborted) return typed;
      }
      return undefined;
    },
    [Symbol.dispose]: () => lines.close(),
  };
}

/** Throws `UsageError` if a command that erases has no `--yes` and no terminal to ask at. */
export function refuseUnasked(
  yes: true | undefined,
  { dialog }: Pick<Terminal, 'dialog'>,
  does = 'erases',
): void {
  if (!yes && dialog === undefined)
    throw new UsageError(`--yes is required, since this command ${does} and there is no terminal to ask at`);
}

/**
 * Asks the user whether to erase, or to do what `does` says; with `--yes`, returns true without asking. Throws errors of
 * `refuseUnasked`, and the reason of a stop.
 */
export async function isSure(
  question: string,
  yes: true | undefined,
  terminal: Pick<Terminal, 'dialog' | 'signal' | 'err'>,
  { does = 'erases', undone = 'removed' } = {},
): Promise<boolean> {
  refuseUnasked(yes, terminal, does);
  if (yes || terminal.dialog === undefined) return true;
  using questions = createQuestions(terminal.dialog, terminal.signal);
  const typed = await questions.ask(`${question} (yes or no)`, 'no');
  terminal.signal.throwIfAborted();
  if (/^y(es)?$/i.test(typed ?? '')) return true;
  terminal.err(`nothing was ${undone}`);
  return false;
}
