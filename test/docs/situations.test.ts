import { expect, test } from 'vitest';
import { blocks, pages, textOf } from './blocks.ts';

/*
 * Checks where the commands on pages are typed. In a clone and in a project with the package, npx finds the command. In
 * any other folder it asks the public registry for a name that is not ours. `test/package` runs the pages' commands in
 * a project, and `situations.process.test.ts` in a clone and elsewhere.
 */

/** A line of a crontab: five fields, then the command, which runs in the home folder. */
const CRON_LINE = /^(?:[\d*,/-]+\s+){5}(?<command>.*)$/;

test('command lines for cron and assistants change to the project first', () => {
  const started = blocks.flatMap(({ at, language, text }) => {
    const commands = text.split('\n').flatMap((line) => CRON_LINE.exec(line)?.groups?.['command'] ?? []);
    const client = language === 'json' && text.includes('mcpServers') ? [serverOf(text)] : [];
    return [...commands, ...client].map((command) => [at, command] as const);
  });

  expect(started.length).toBeGreaterThan(2);
  expect(started.filter(([, command]) => !/^cd [~/]\S* && /.test(command))).toEqual([]);
});

/** The command line by which a client starts the server. */
function serverOf(text: string): string {
  const { mcpServers } = JSON.parse(text) as {
    readonly mcpServers: Readonly<Record<string, { readonly command: string; readonly args: string[] }>>;
  };
  const [server] = Object.values(mcpServers);
  return server?.command === 'sh' ? (server.args[1] ?? '') : JSON.stringify(server);
}

test('no page shows the command without npx, because a clone does not have it', () => {
  // This page shows printed output, which uses the bare name.
  const written = pages.filter((page) => page !== 'docs/broken-states.md');
  const bare = written.flatMap((page) =>
    textOf(page)
      .split('\n')
      // `completion` is excepted: a shell only completes a command that is in its path.
      .filter((line) => /(?:^|`|&& |\| )platform-sync (?!completion)[a-z-]+/.test(line))
      .map((line) => `${page}: ${line.slice(0, 100)}`),
  );

  expect(bare).toEqual([]);
});
