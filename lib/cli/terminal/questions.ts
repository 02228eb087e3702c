import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { UsageError } from '../errors/usage-error.ts';
import type { Dialog, Terminal } from './terminal.ts';

/** Asks questions at a terminal, one after the other. */
type Questions = Disposable & {
  /**
   * Returns the typed answer, or `byDefault` for an empty line; without a default, asks again. Undefined after
   * Ctrl-C or Ctrl-D.
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

/** Throws `UsageError` for a command that deletes data, if `--yes` was not given and there is no terminal to ask. */
export function refuseUnasked(
  yes: true | undefined,
  { dialog }: Pick<Terminal, 'dialog'>,
  does = 'deletes data',
): void {
  if (!yes && dialog === undefined)
    throw new UsageError(
      `--yes is required: this command ${does}, and there is no terminal to ask for confirmation`,
    );
}

/**
 * Asks the user for confirmation; with `--yes`, returns true without asking. `does` and `undone`: what the command
 * does, and what was not done if the user refuses, in words. Throws errors of `refuseUnasked`, and the reason of a
 * stop.
 */
export async function isSure(
  question: string,
  yes: true | undefined,
  terminal: Pick<Terminal, 'dialog' | 'signal' | 'err'>,
  { does = 'deletes data', undone = 'deleted' } = {},
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
