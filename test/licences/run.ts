import { licencesIn } from './licences.ts';

// `npm run licences`: prints one line per package, sorted by name. Exits 1 if a licence is missing or not allowed.
const packages = licencesIn('.');
for (const { name, version, licence } of packages)
  console.log(`${name} ${version} ${licence ?? 'no licence'}`);
const refused = packages.filter(({ isAllowed }) => !isAllowed);
for (const { name, licence } of refused)
  console.error(`${name}: not an allowed licence: ${licence ?? 'none'}`);
console.error(`${packages.length} packages, ${refused.length} without an allowed licence`);
process.exitCode = refused.length > 0 || packages.length === 0 ? 1 : 0;
