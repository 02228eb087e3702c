import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import type { Manifest } from '../../lib/snapshot/manifest.ts';
import { sources } from '../../lib/snapshot/sources/sources.ts';
import { sampled } from '../scale.ts';
import { killCommand } from './killed-command.ts';

const RATE = 20;
const PART_SECONDS = 1;

test.for(sampled(1, sources))(
  'a command that is killed while it takes %s loses no more requests than a part may stay open',
  { timeout: 120_000 },
  async (source) => {
    const folder = await mkdtemp(join(tmpdir(), 'killed-'));
    await using sandbox = await startPlatform({ pageCap: 10, calculations: 2_000, filesPerSet: 30_000 });
    const settings = {
      PLATFORM_BASE_URL: sandbox.url,
      PLATFORM_TOKEN: sandbox.token,
      PLATFORM_RATE: String(RATE),
      SYNC_PART_SECONDS: String(PART_SECONDS),
    };
    try {
      const killed = await killCommand({
        source,
        sandbox,
        settings,
        folder,
        isTime: () => sandbox.counts().requests > 3 * RATE,
      });
      const resumed = spawn(
        process.execPath,
        ['lib/cli/bin.js', 'snapshot', source, '--resume', killed.run, '--json'],
        {
          stdio: ['ignore', 'pipe', 'inherit'],
          env: { ...process.env, ...settings, PLATFORM_RATE: '1000', SYNC_STORE: folder },
        },
      );
      const manifest: Manifest = JSON.parse(await text(resumed.stdout));

      expect(killed.requests).toBeGreaterThan(2 * RATE);
      // A part's time, the time to store it on a busy machine, and pages that were read ahead.
      expect(killed.requestsLost).toBeLessThan(2 * RATE);
      expect(manifest.publishable).toBe(true);
      expect(manifest.atRisk?.seconds).toBeLessThan(2 * PART_SECONDS);
    } finally {
      await rm(folder, { recursive: true });
    }
  },
);
