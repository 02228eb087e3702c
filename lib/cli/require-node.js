import { existsSync } from 'node:fs';

// Plain JavaScript, so that an old Node can print the message. Node 24 and later run the TypeScript sources of a
// checkout, and their SQLite needs no flag and prints no warning.
const isCheckout = existsSync(new URL('command-line.ts', import.meta.url));
const [major] = process.versions.node.split('.').map(Number);
const isEnough = major === 24 || major >= 26;
if (!isEnough) {
  process.stderr.write(
    `platform-sync needs Node 24, or 26 or newer, but was started by Node ${process.versions.node}.\n${
      isCheckout
        ? 'Run it as `npx platform-sync …` or from an npm script: `npm ci` installs the right Node with it.\n' +
          'If `npm ci` was run with --ignore-scripts, run `npm rebuild node` first.\n'
        : 'To install the right Node in this project: npm install node@24\n'
    }`,
  );
  process.exit(2);
}
