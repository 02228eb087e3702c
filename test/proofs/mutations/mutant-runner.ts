import { readFileSync } from 'node:fs';
import {
  type RunnerTask,
  type RunnerTestCase,
  type RunnerTestFile,
  type SerializedConfig,
  TestRunner,
  type TestTryOptions,
} from 'vitest';
import { type Journal, journalAt, processSettings, progressOf } from './changes.ts';

/** The global object that instrumented code reads and writes. The instrumenter chose its names. */
type Switches = {
  activeMutant?: string | undefined;
  currentTestId?: string | undefined;
  hitCount?: number | undefined;
  hitLimit?: number | undefined;
  mutantCoverage?: { static: Record<string, number>; perTest: Record<string, Record<string, number>> };
};

declare global {
  var __stryker__: Switches | undefined;
}

/** The switches of this thread, which all instrumented code shares. */
function switches(): Switches {
  globalThis.__stryker__ ??= {};
  return globalThis.__stryker__;
}

/** A changed place that is reached this many times as often as without the change is in a loop, which counts as noticed. */
const LOOP = 100;
const LOOP_SPARE = 1_000;

/** How much longer a test may take with a mutant than without, as a factor and in milliseconds. */
const SPARE_FACTOR = 3;
const SPARE_MS = 5_000;

/** The name under which code reached during runs with a change is recorded: it is attributed to no test. */
const NO_TEST = 'none';

/** The error that makes vitest retry a test. */
const again = () => ({ name: 'Again', message: 'the next change' });

/**
 * Runs each test first without a change, which shows what it reaches, and then with one change after another. The
 * repetitions are vitest's retries, so hooks and clean-up run each time. The last try is without a change: if it
 * fails, an earlier change left something behind that breaks the test.
 */
export default class MutantRunner extends TestRunner {
  readonly #switches: Switches = switches();
  readonly #journal: Journal;
  readonly #mine: ReadonlySet<string>;
  readonly #tested: ReadonlySet<string>;
  /** How often the current test reaches each change. */
  #hits: Readonly<Record<string, number>> = {};
  #queue: readonly string[] = [];
  /** Whether the test failed without a mutant. */
  #failed = false;
  #limitMs = 0;
  #startMs = 0;

  constructor(config: SerializedConfig) {
    super(config);
    const settings = processSettings();
    if (settings === undefined)
      throw new Error('expected the settings of a process that runs tests with changes');
    this.#journal = journalAt(settings.journalFile);
    this.#mine = new Set(JSON.parse(readFileSync(settings.changesFile, 'utf8')) as readonly string[]);
    this.#tested = progressOf(this.#journal.read()).tested;
  }

  override onCollectStart(file: RunnerTestFile): void {
    super.onCollectStart(file);
    this.#switches.currentTestId = undefined;
  }

  override async onBeforeRunTask(test: RunnerTask): Promise<void> {
    await super.onBeforeRunTask(test);
    if (test.type !== 'test') return;
    if (this.#tested.has(test.id)) test.mode = 'skip';
    test.repeats = 1;
    test.retry = 0;
  }

  override onBeforeTryTask(test: RunnerTask, options: TestTryOptions): void {
    super.onBeforeTryTask(test, options);
    if (options.repeats === 0) this.#beginPlain(test.id);
    else this.#begin(test.id, this.#queue[options.retry]);
  }

  #beginPlain(test: string): void {
    this.#switches.currentTestId = test;
    this.#startMs = performance.now();
  }

  #begin(test: string, change: string | undefined): void {
    this.#switches.activeMutant = change;
    if (change === undefined) return;
    this.#journal.add({ kind: 'begins', test, change, limitMs: this.#limitMs });
    this.#switches.hitCount = 0;
    this.#switches.hitLimit = LOOP_SPARE + LOOP * (this.#hits[change] ?? 0);
  }

  override async onAfterRetryTask(test: RunnerTestCase, options: TestTryOptions): Promise<void> {
    await super.onAfterRetryTask(test, options);
    if (test.result === undefined) return;
    const failed = test.result.state === 'fail';
    if (options.repeats === 0) {
      this.#endPlain(test, failed);
      return;
    }
    const change = this.#queue[options.retry];
    if (change === undefined) {
      if (failed) this.#journal.add({ kind: 'unsure', test: test.id });
      return;
    }
    this.#end(test.id, change, failed);
    Object.assign(test.result, { state: 'fail', errors: [again()], attempts: [] });
  }

  #endPlain(test: RunnerTestCase, failed: boolean): void {
    this.#limitMs = SPARE_MS + SPARE_FACTOR * (performance.now() - this.#startMs);
    this.#hits = this.#switches.mutantCoverage?.perTest[test.id] ?? {};
    this.#switches.currentTestId = NO_TEST;
    this.#failed = failed;
    this.#queue = failed ? [] : this.#toRun(test.id);
    test.retry = this.#queue.length;
  }

  /** The changes to run a test with. One that hung comes first, while the process is still untouched by other changes. */
  #toRun(test: string): readonly string[] {
    const { noticed, runOf } = progressOf(this.#journal.read());
    const changes = Object.keys(this.#hits).filter(
      (change) => this.#mine.has(change) && !noticed.has(change),
    );
    const hung = changes.filter((change) => runOf(test, change) === 'hung');
    return [...hung, ...changes.filter((change) => runOf(test, change) === undefined)];
  }

  #end(test: string, change: string, failed: boolean): void {
    const { hitCount = 0, hitLimit = Infinity } = this.#switches;
    const outcome = hitCount > hitLimit ? 'looped' : failed ? 'failed' : 'passed';
    this.#journal.add({ kind: 'ends', test, change, outcome });
    Object.assign(this.#switches, { activeMutant: undefined, hitCount: undefined });
  }

  /** Vitest reports a test as failed only if it failed without any change. */
  override onAfterRunTask(test: RunnerTask): void {
    super.onAfterRunTask(test);
    this.#journal.add({ kind: 'tested', test: test.id });
    if (test.result === undefined || this.#failed) return;
    test.result.state = 'pass';
    delete test.result.errors;
  }

  override onAfterRunFiles(files: RunnerTestFile[]): void {
    super.onAfterRunFiles(files);
    this.#journal.add({
      kind: 'imported',
      changes: Object.keys(this.#switches.mutantCoverage?.static ?? {}),
    });
  }
}
