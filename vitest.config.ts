import { defineConfig } from 'vitest/config'
import { waitMs } from './test/waiting.ts'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['test/global-setup.ts'],
    // A worker keeps its application and database over all its files.
    pool: 'forks',
    isolate: false,
    maxWorkers: 2,
    // Timeouts end what would never end. They are no part of what tests assert, and so are long enough for a busy machine.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: waitMs } },
  },
})
