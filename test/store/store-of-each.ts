import { beforeEach } from 'vitest';
import { createMemoryStore, type MemoryStore } from './memory-store.ts';

/** A store in memory that is emptied before each test. Call this before you register other hooks. */
export function storeOfEach(...given: Parameters<typeof createMemoryStore>): MemoryStore {
  const store = createMemoryStore(...given);
  beforeEach(() => store.objects.clear());
  return store;
}
