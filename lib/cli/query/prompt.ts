import { createInterface, type Interface } from 'node:readline';
import { splitStatements } from '../../tables/duckdb/split-statements.ts';
import { UsageError } from '../errors/usage-error.ts';
import { exitCodes, shown } from '../terminal/terminal.ts';
import { complete } from './completion.ts';
import { promptAction, promptCommands } from './prompt-commands.ts';
import { createRunner, type Runner, type RunnerOptions } from './prompt-runner.ts';
import { savedNames } from './saved.ts';

export type PromptOptions = RunnerOptions & {
  /** Ends the prompt. */
  readonly signal: AbortSignal;
};

const FIRST = 'sql> ';
const NEXT = '  -> ';

/** Reads SQL line by line and prints what it finds, until Ctrl-D. Returns the exit code. */
export async function runPrompt(options: PromptOptions): Promise<number> {
  const { dialog, signal } = options;
  const runner = await createRunner(options);
  const known = { saved: savedNames(), commands: Object.keys(promptCommands) };
  const state = { typed: '', isOver: false };
  const lines = createInterface({
    ...dialog,
    terminal: 'isTTY' in dialog.output && dialog.output.isTTY === true,
    historySize: 1_000,
    removeHistoryDuplicates: true,
    completer: (line: string) => complete(`${state.typed}${line}`, { ...known, tables: runner.listed() }),
  });
  const ask = createAsk(lines, () => state.typed === '');
  const end = () => {
    state.isOver = true;
    runner.stop();
    lines.close();
  };
  lines.on('SIGINT', () => {
    if (runner.stop()) return;
    runner.print(state.typed === '' && lines.line === '' ? '\n(Ctrl-D ends)' : '');
    state.typed = '';
    clearLine(lines);
    ask();
  });
  signal.addEventListener('abort', end, { once: true });
  try {
    runner.print('SQL over what is stored; .help says more');
    ask();
    for await (const line of lines) {
      if (!state.isOver) await take(line, state, runner);
      if (state.isOver) break;
      ask();
    }
  } finally {
    signal.removeEventListener('abort', end);
    lines.close();
  }
  return signal.aborted ? exitCodes.failed : exitCodes.done;
}

type PromptState = {
  /** The lines of a statement that has not ended yet. */
  typed: string;
  isOver: boolean;
};

/** Does what a line asks for; it may be a part of a statement, or several. */
async function take(line: string, state: PromptState, runner: Runner): Promise<void> {
  if (state.typed === '' && line.trimStart().startsWith('.')) {
    state.isOver = await takeCommand(line, runner);
    return;
  }
  const { ended, rest, hasRest } = splitStatements(`${state.typed}${line}\n`);
  state.typed = hasRest ? rest : '';
  for (const sql of ended) if (!state.isOver) await runner.run(sql);
}

/** Runs a command of the prompt; true if it is to end. */
async function takeCommand(line: string, runner: Runner): Promise<boolean> {
  try {
    const action = promptAction(line, runner.listed());
    if (action.kind === 'print') for (const each of action.lines) runner.print(shown(each));
    if (action.kind === 'run') await runner.run(action.sql);
    return action.kind === 'quit';
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    runner.print(shown(error.message));
    return false;
  }
}

/** Asks for the next line, unless there are no more: what was typed before is still run. */
function createAsk(lines: Interface, isFirst: () => boolean): () => void {
  let isClosed = false;
  lines.once('close', () => {
    isClosed = true;
  });
  return () => {
    if (isClosed) return;
    lines.setPrompt(isFirst() ? FIRST : NEXT);
    lines.prompt();
  };
}

/** Drops what is typed in the line, as Ctrl-E and Ctrl-U do. */
function clearLine(lines: Interface): void {
  lines.write(null, { ctrl: true, name: 'e' });
  lines.write(null, { ctrl: true, name: 'u' });
}
