// Node 24 runs the TypeScript sources as they are, so an older Node must stop here, in plain JavaScript.
const WANTED = 24;
const major = Number(process.versions.node.split('.')[0]);
if (major < WANTED) {
  process.stderr.write(
    `platform-sync needs Node ${WANTED} or newer, but was started by Node ${process.versions.node}.\n` +
      'Run it as `npx platform-sync …` or from an npm script: `npm ci` installs the right Node with it.\n' +
      'If `npm ci` was run with --ignore-scripts, run `npm rebuild node` first.\n',
  );
  process.exit(2);
}
