import { existsSync } from 'node:fs';

// Plain JavaScript that any Node runs. The TypeScript sources of a checkout run as they are on Node 24; the package's
// JavaScript runs from the first Node that has Zstandard.
const isCheckout = existsSync(new URL('command-line.ts', import.meta.url));
const [major, minor] = process.versions.node.split('.').map(Number);
const isEnough = major >= 24 || (!isCheckout && major === 22 && minor >= 15);
if (!isEnough) {
  process.stderr.write(
    `platform-sync needs Node ${isCheckout ? '24' : '22.15, or 24'} or newer, but was started by Node ${process.versions.node}.\n${
      isCheckout
        ? 'Run it as `npx platform-sync …` or from an npm script: `npm ci` installs the right Node with it.\n' +
          'If `npm ci` was run with --ignore-scripts, run `npm rebuild node` first.\n'
        : 'The npm package `node` installs one beside it: npm install node@24\n'
    }`,
  );
  process.exit(2);
}
