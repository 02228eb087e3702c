import { beforeEach } from 'vitest';
import { createMemoryStore, type MemoryStore } from './memory-store.ts';

/** A store in memory that is empty when a test begins. Called before other hooks. */
export function storeOfEach(...given: Parameters<typeof createMemoryStore>): MemoryStore {
  const store = createMemoryStore(...given);
  beforeEach(() => store.objects.clear());
  return store;
}
